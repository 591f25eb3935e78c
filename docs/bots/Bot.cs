// A one-file bot played from C#, as a program (see Usage) or by its class. For .NET, Unity and Mono (C# 7.3).

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;
using System.Xml.Linq;
using Microsoft.ML.OnnxRuntime;
using Microsoft.ML.OnnxRuntime.Tensors;

/// <summary>
/// What a decision stands in. What the rules do not have, or has not happened, is left out (null), and so are a target and a
/// temperature that are those of the file.
/// </summary>
public sealed class Decision
{
    public int[] Cards, GivenUp, Scores, Exchanges, Calls, Laid;
    public int Dealer, Seed;
    public int? Target;
    public float? Temperature;
}

/// <summary>What a bot answers.</summary>
public sealed class Answer
{
    public int[][] Hands;
    public int[] Spare, Strengths;
    public float[] Chances;
    public bool Exchange, Call, Ok;
    public int Candidates;
}

public sealed class Bot : IDisposable
{
    private readonly InferenceSession session;

    /// <summary>What the file says about itself, with its rules and its agent.</summary>
    public XElement About { get; private set; }

    /// <summary>Every option of the rules.</summary>
    public XElement Rules { get { return About.Element("rules"); } }

    public Bot(string path)
    {
        // onnxruntime before 1.19 answers wrongly with memory patterns.
        var options = new SessionOptions { IntraOpNumThreads = 1, EnableMemoryPattern = false };
        session = new InferenceSession(path, options);
        About = Json(session.ModelMetadata.CustomMetadataMap["prial"]);
    }

    /// <summary>JSON, read with what .NET, .NET Framework and Mono have without any package.</summary>
    public static XElement Json(string line)
    {
        var bytes = Encoding.UTF8.GetBytes(line);
        using (var reader = JsonReaderWriterFactory.CreateJsonReader(bytes, XmlDictionaryReaderQuotas.Max)) return XElement.Load(reader);
    }

    public Answer Decide(Decision given)
    {
        int dealt = (int)Rules.Element("cards_dealt"), players = (int)Rules.Element("players");
        var warmth = new[] { given.Temperature ?? (float)About.Element("temperature") };
        var temperature = new DenseTensor<float>(warmth, new[] { 1 });
        var inputs = new List<NamedOnnxValue>
        {
            Ints("cards", given.Cards, 1, dealt),
            Ints("given_up", given.GivenUp ?? None(dealt), 1, dealt),
            Ints("scores", given.Scores, 1, players),
            Ints("target", new[] { given.Target ?? (int)Rules.Element("target") }, 1),
            Ints("dealer", new[] { given.Dealer }, 1),
            Ints("exchanges", given.Exchanges ?? None(players), 1, players),
            Ints("calls", given.Calls ?? None(players), 1, players),
            Ints("laid", given.Laid ?? None(12), 1, 4, 3),
            NamedOnnxValue.CreateFromTensor("temperature", temperature),
            Ints("seed", new[] { given.Seed }, 1),
        };
        using (var found = session.Run(inputs))
        {
            Func<string, int[]> ints = name => found.First(one => one.Name == name).AsTensor<int>().ToArray();
            var hands = ints("hands");
            return new Answer
            {
                Hands = Enumerable.Range(0, 4).Select(hand => hands.Skip(3 * hand).Take(3).ToArray())
                    .Where(hand => hand[0] >= 0).ToArray(),
                Spare = ints("spare").Where(card => card >= 0).ToArray(),
                Strengths = ints("strengths"),
                Chances = found.First(one => one.Name == "chances").AsTensor<float>().ToArray(),
                Exchange = ints("exchange")[0] == 1,
                Call = ints("call")[0] == 1,
                Ok = ints("ok")[0] == 1,
                Candidates = ints("candidates")[0],
            };
        }
    }

    public void Dispose() { session.Dispose(); }

    private static int[] None(int length) { return Enumerable.Repeat(-1, length).ToArray(); }

    private static NamedOnnxValue Ints(string name, int[] values, params int[] shape)
    {
        return NamedOnnxValue.CreateFromTensor(name, new DenseTensor<int>(values, shape));
    }
}

/// <summary>What was asked for cannot be; the message is one line.</summary>
public sealed class WordsException : Exception
{
    public WordsException(string message) : base(message) { }
}

public static class Program
{
    private const string Usage = @"A one-file bot played from C#: Microsoft.ML.OnnxRuntime, nothing of prial.

Bot bot.onnx ""3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As"" 5 6 2       own cards; scores, own first
Bot bot.onnx --check vectors.jsonl online-3                        prial export --vectors vectors.jsonl
Bot bot.onnx --time 100 ""3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As""   milliseconds for a decision
";
    private const string Ranks = "23456789TJQKA", Suits = "cdhs";

    private static int CardId(string text) { return 4 * Ranks.IndexOf(text[0]) + Suits.IndexOf(text[1]); }

    private static string CardText(int card) { return "" + Ranks[card / 4] + Suits[card % 4]; }

    private static int[] CardIds(string text, XElement rules)
    {
        var cards = text.Split(new char[0], StringSplitOptions.RemoveEmptyEntries);
        var wrong = cards.FirstOrDefault(card => card.Length != 2 || !Ranks.Contains(card[0]) || !Suits.Contains(card[1]));
        if (wrong != null) throw new WordsException("cards: no card '" + wrong + "'; expected rank and suit, such as As Td 2c");
        int dealt = (int)rules.Element("cards_dealt");
        if (cards.Length != dealt) throw new WordsException("cards: expected " + dealt + ", got " + cards.Length);
        return cards.Select(CardId).ToArray();
    }

    private static int Whole(string text, string what, int least)
    {
        int number;
        if (text.Length < 10 && int.TryParse(text, NumberStyles.None, null, out number) && number >= least) return number;
        throw new WordsException(what + ": expected a whole number from " + least + ", got '" + text + "'");
    }

    private static string Existing(string path)
    {
        if (!File.Exists(path)) throw new WordsException(path + ": no such file");
        return path;
    }

    public static int Main(string[] words)
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        var option = words.Length > 1 && words[1].StartsWith("--") ? words[1] : null;
        if (words.Length < 2 || (option != null && ((option != "--check" && option != "--time") || words.Length != 4)))
        {
            Console.Error.WriteLine(Usage);
            return 1;
        }
        try
        {
            return Do(option, words) ? 0 : 1;
        }
        catch (WordsException wrong)
        {
            Console.Error.WriteLine(wrong.Message);
            return 1;
        }
    }

    private static bool Do(string option, string[] words)
    {
        using (var bot = new Bot(Existing(words[0])))
        {
            if (option == "--check") return Check(bot, words[2], words[3]);
            if (option == "--time") return Time(bot, Whole(words[2], "--time", 1), CardIds(words[3], bot.Rules));
            int players = (int)bot.Rules.Element("players");
            var scores = words.Length > 2 ? words.Skip(2).Select(word => Whole(word, "scores", 0)).ToArray() : new int[players];
            if (scores.Length != players) throw new WordsException("scores: expected " + players + ", got " + scores.Length);
            var found = bot.Decide(new Decision { Cards = CardIds(words[1], bot.Rules), Scores = scores });
            Console.WriteLine("lay " + string.Join(" | ", found.Hands.Select(hand => string.Join(" ", hand.Select(CardText)))));
            Console.WriteLine("spare " + string.Join(" ", found.Spare.Select(CardText)));
            Console.WriteLine("chances " + string.Join(" ", found.Chances.Select(chance => chance.ToString("F2"))));
            return found.Ok;
        }
    }

    /// <summary>
    /// Compares with conformance vectors: what is laid has to be undominated, decisions as the bot's own agent's. Those of a
    /// level come by the seed.
    /// </summary>
    private static bool Check(Bot bot, string path, string rulesId)
    {
        var lines = File.ReadLines(Existing(path)).Select(Bot.Json).ToList();
        var told = lines.FirstOrDefault(line => Text(line, "kind") == "rules" && Text(line, "id") == rulesId);
        if (told == null) throw new WordsException(path + ": no rules '" + rulesId + "'");
        if (told.Element("options").Elements().Any(one => Text(bot.Rules, one.Name.LocalName) != one.Value))
            throw new WordsException(rulesId + ": not the rules that the bot was made for");
        int players = (int)bot.Rules.Element("players");
        int done = 0, compared = 0, faults = 0;
        var agent = Text(bot.About, "agent");
        foreach (var line in lines)
        {
            if (Text(line, "kind") != "position" || Text(line, "rules") != rulesId || Text(line, "phase") == "call") continue;
            var view = line.Element("view");
            var givenUp = Texts(view, "given_up").Select(CardId).ToArray();
            int seat = (int)view.Element("seat");
            var found = bot.Decide(new Decision
            {
                Cards = Texts(view, "cards").Select(CardId).ToArray(),
                GivenUp = givenUp.Length > 0 ? givenUp : null,
                Scores = Relative(view, "scores", seat),
                Dealer = ((int)view.Element("dealer") - seat + players) % players,
                Exchanges = Relative(view, "exchanges", seat),
                Temperature = 0,
                Seed = (int)line.Element("seed"),
            });
            done++;
            var decision = Named(line.Element("decisions"), agent) ?? Named(line.Element("decisions_by_seed"), agent);
            if (decision != null) compared++;
            if (Text(line, "phase") == "exchange")
            {
                if (decision == null || decision == (found.Exchange ? "exchange" : "keep")) continue;
                faults++;
                Console.WriteLine(Text(line, "command") + ": expected " + decision);
                continue;
            }
            var wanted = line.Element("undominated").Elements().ToList();
            var laid = string.Join(",", found.Strengths.Take(Texts(wanted[0], "strengths").Length));
            var same = wanted.Where(one => string.Join(",", Texts(one, "strengths")) == laid).Select(one => Text(one, "lay"));
            var right = decision == null ? same.Any() : same.Contains(decision);
            if (right && found.Candidates == wanted.Count) continue;
            faults++;
            Console.WriteLine(Text(line, "command") + ": laid " + laid + ", " + found.Candidates + " candidates, expected "
                + (decision ?? "undominated hands"));
        }
        Console.WriteLine(done + " positions, " + compared + " decisions compared, " + faults + " faults");
        return faults == 0;
    }

    private static bool Time(Bot bot, int count, int[] cards)
    {
        var taken = new List<double>();
        int players = (int)bot.Rules.Element("players");
        for (int turn = 0; turn < count; turn++)
        {
            var watch = Stopwatch.StartNew();
            bot.Decide(new Decision { Cards = cards, Scores = new int[players] });
            taken.Add(watch.Elapsed.TotalMilliseconds);
        }
        taken.Sort();
        Console.WriteLine("median " + taken[count / 2].ToString("F1") + " ms, fastest " + taken[0].ToString("F1") + " ms of " + count);
        return true;
    }

    private static string Text(XElement line, string name) { return (string)line.Element(name); }

    // A name that is none in XML, such as "online:easy", is kept as an attribute.
    private static string Named(XElement line, string name)
    {
        return (string)line.Elements().FirstOrDefault(one => ((string)one.Attribute("item") ?? one.Name.LocalName) == name);
    }

    private static string[] Texts(XElement line, string name)
    {
        return line.Element(name).Elements().Select(one => one.Value).ToArray();
    }

    /// <summary>What is told by seat at the table, own first; true, false and null as 1, 0 and -1.</summary>
    private static int[] Relative(XElement view, string name, int seat)
    {
        var values = Texts(view, name).Select(text => text == "true" ? 1 : text == "false" ? 0 : text == "" ? -1 : int.Parse(text));
        return values.Skip(seat).Concat(values.Take(seat)).ToArray();
    }
}
