// A one-file bot played from C#: Microsoft.ML.OnnxRuntime, nothing of prial. For .NET, Unity and Mono (C# 7.3).
//
//   Bot bot.onnx "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As" 5 6 2              own cards; scores, own first
//   Bot bot.onnx --check vectors.jsonl online-3                             prial export --vectors vectors.jsonl
//   Bot bot.onnx --time 100 "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As"         milliseconds for a decision

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

/// <summary>What a decision stands in. What the rules do not have, or has not happened, is left out (null).</summary>
public sealed class Decision
{
    public int[] Cards, GivenUp, Scores, Exchanges, Calls, Laid;
    public int Target = 7, Dealer, Seed;
    public float Temperature;
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

    /// <summary>What the file says about itself: one JSON object, with its rules and its agent.</summary>
    public string About { get { return session.ModelMetadata.CustomMetadataMap["prial"]; } }

    public Bot(string path)
    {
        // onnxruntime before 1.19 answers wrongly with memory patterns.
        var options = new SessionOptions { IntraOpNumThreads = 1, EnableMemoryPattern = false };
        session = new InferenceSession(path, options);
    }

    public Answer Decide(Decision given)
    {
        int dealt = given.Cards.Length, players = given.Scores.Length;
        var temperature = new DenseTensor<float>(new[] { given.Temperature }, new[] { 1 });
        var inputs = new List<NamedOnnxValue>
        {
            Ints("cards", given.Cards, 1, dealt),
            Ints("given_up", given.GivenUp ?? None(dealt), 1, dealt),
            Ints("scores", given.Scores, 1, players),
            Ints("target", new[] { given.Target }, 1),
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

public static class Program
{
    private const string Ranks = "23456789TJQKA", Suits = "cdhs";

    private static int CardId(string text) { return 4 * Ranks.IndexOf(text[0]) + Suits.IndexOf(text[1]); }

    private static string CardText(int card) { return "" + Ranks[card / 4] + Suits[card % 4]; }

    private static int[] CardIds(string text) { return text.Split(' ').Select(CardId).ToArray(); }

    public static int Main(string[] words)
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        using (var bot = new Bot(words[0]))
        {
            if (words[1] == "--check") return Check(bot, words[2], words[3]) ? 0 : 1;
            if (words[1] == "--time") return Time(bot, int.Parse(words[2]), CardIds(words[3]));
            var scores = words.Length > 2 ? words.Skip(2).Select(int.Parse).ToArray() : new[] { 0, 0, 0 };
            var found = bot.Decide(new Decision { Cards = CardIds(words[1]), Scores = scores });
            Console.WriteLine("lay " + string.Join(" | ", found.Hands.Select(hand => string.Join(" ", hand.Select(CardText)))));
            Console.WriteLine("spare " + string.Join(" ", found.Spare.Select(CardText)));
            Console.WriteLine("chances " + string.Join(" ", found.Chances.Select(chance => chance.ToString("F2"))));
            return found.Ok ? 0 : 1;
        }
    }

    /// <summary>
    /// Compares with conformance vectors: what is laid has to be undominated, decisions as the bot's own agent's. Those of a
    /// level come by the seed.
    /// </summary>
    private static bool Check(Bot bot, string path, string rulesId)
    {
        var lines = File.ReadLines(path).Select(Json).ToList();
        var rules = lines.First(line => Text(line, "kind") == "rules" && Text(line, "id") == rulesId).Element("options");
        int players = (int)rules.Element("players"), target = (int)rules.Element("target");
        int done = 0, compared = 0, faults = 0;
        var agent = Text(Json(bot.About), "agent");
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
                Target = target,
                Dealer = ((int)view.Element("dealer") - seat + players) % players,
                Exchanges = Relative(view, "exchanges", seat),
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

    private static int Time(Bot bot, int count, int[] cards)
    {
        var taken = new List<double>();
        for (int turn = 0; turn < count; turn++)
        {
            var watch = Stopwatch.StartNew();
            bot.Decide(new Decision { Cards = cards, Scores = new[] { 0, 0, 0 } });
            taken.Add(watch.Elapsed.TotalMilliseconds);
        }
        taken.Sort();
        Console.WriteLine("median " + taken[count / 2].ToString("F1") + " ms, fastest " + taken[0].ToString("F1") + " ms of " + count);
        return 0;
    }

    // JSON with what .NET, .NET Framework and Mono have without any package.
    private static XElement Json(string line)
    {
        var bytes = Encoding.UTF8.GetBytes(line);
        using (var reader = JsonReaderWriterFactory.CreateJsonReader(bytes, XmlDictionaryReaderQuotas.Max)) return XElement.Load(reader);
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
