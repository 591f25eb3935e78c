/* A small engine for prial's engine protocol in C99, one file, the standard library alone.
 *
 *   cc -O2 -o greedy docs/engines/greedy.c && prial arena engine:./greedy greedy
 *
 * It lays the strongest hand that it can, then the strongest of the cards left, and so on; it keeps its cards and never
 * calls. A better engine replaces decide().
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 8192, WORDS = 512, CARDS = 13 };
static const char RANKS[] = "23456789TJQKA";
static const char SUITS[] = "cdhs";

/* Rules: what this engine needs of them, as in the rule set `online` unless the host says otherwise. */
static int cards_dealt = 13, lowest_class = 1, three_high = 0, have_rules = 0;
/* The position: the phase, and the own cards as 4 * rank + suit. */
static char phase[16] = "";
static int cards[CARDS];

/* One number that orders hands: class first, then what counts within it. */
static long strength(int a, int b, int c) {
    int ranks[3] = {a / 4, b / 4, c / 4}, value[3], kind, swap;
    for (int i = 0; i < 2; i++) /* high to low */
        for (int j = i + 1; j < 3; j++)
            if (ranks[j] > ranks[i]) swap = ranks[i], ranks[i] = ranks[j], ranks[j] = swap;
    int one_suit = a % 4 == b % 4 && b % 4 == c % 4;
    int ace_low = ranks[0] == 12 && ranks[1] == 1 && ranks[2] == 0; /* A-2-3, the best run */
    value[0] = ranks[0], value[1] = ranks[1], value[2] = ranks[2];
    if (ranks[0] == ranks[2]) {
        kind = 5, value[0] = ranks[0] == 1 ? 13 : ranks[0]; /* 3-3-3 is the best */
    } else if (ace_low || (ranks[0] - ranks[1] == 1 && ranks[1] - ranks[2] == 1)) {
        kind = one_suit ? 4 : 3, value[0] = ace_low ? 13 : ranks[0];
    } else if (one_suit) {
        kind = 2;
        if (three_high && ranks[1] == 1) value[0] = 13, value[1] = ranks[0]; /* the three is the top card */
        if (three_high && ranks[2] == 1) value[0] = 13, value[1] = ranks[0], value[2] = ranks[1];
    } else if (ranks[0] == ranks[1] || ranks[1] == ranks[2]) {
        kind = 1, value[0] = ranks[1], value[1] = ranks[0] == ranks[1] ? ranks[2] : ranks[0], value[2] = 0;
    } else {
        kind = 0;
    }
    return ((kind * 14L + value[0]) * 14 + value[1]) * 14 + value[2];
}

static void say_card(int card) { printf("%c%c", RANKS[card / 4], SUITS[card % 4]); }

static void decide(void) {
    if (!strcmp(phase, "exchange")) { puts("decision keep"); return; }
    if (!strcmp(phase, "call")) { puts("decision pass"); return; }
    int left[CARDS], n = cards_dealt, most = cards_dealt / 3 < 4 ? cards_dealt / 3 : 4;
    memcpy(left, cards, sizeof left);
    fputs("decision lay", stdout);
    for (int hand = 0; hand < most; hand++) {
        long best = lowest_class * 14L * 14 * 14 - 1;
        int found[3] = {-1, -1, -1};
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                for (int k = j + 1; k < n; k++) {
                    long value = strength(left[i], left[j], left[k]);
                    if (value > best) best = value, found[0] = i, found[1] = j, found[2] = k;
                }
        if (found[0] < 0) break;
        if (hand) fputs(" |", stdout);
        for (int i = 0; i < 3; i++) putchar(' '), say_card(left[found[i]]);
        for (int i = 2; i >= 0; i--) /* from the back, so that places stay right */
            memmove(left + found[i], left + found[i] + 1, (size_t)(--n - found[i]) * sizeof *left);
    }
    putchar('\n');
}

static int same(const char *word, const char *other) { /* whatever the case */
    while (*word && tolower((unsigned char)*word) == *other) word++, other++;
    return !*word && !*other;
}

static int card_of(const char *word) {
    const char *rank = strlen(word) == 2 ? strchr(RANKS, toupper((unsigned char)word[0])) : NULL;
    const char *suit = rank ? strchr(SUITS, tolower((unsigned char)word[1])) : NULL;
    return suit ? 4 * (int)(rank - RANKS) + (int)(suit - SUITS) : -1;
}

static void read_rules(char **words, int count) {
    cards_dealt = 13, lowest_class = 1, three_high = 0, phase[0] = 0;
    for (int i = 1; i < count; i++) {
        char *value = strchr(words[i], '=');
        if (!value) continue;
        *value++ = 0;
        if (same(words[i], "cards_dealt")) cards_dealt = atoi(value);
        if (same(words[i], "flush_high")) three_high = same(value, "three");
        if (same(words[i], "lowest_hand")) lowest_class = same(value, "flush") ? 2 : same(value, "pair") ? 1 : 0;
    }
    have_rules = cards_dealt >= 3 && cards_dealt <= CARDS;
    puts(have_rules ? "ok rules" : "error rules: cards_dealt: expected 3 to 13");
}

static void read_position(char **words, int count) {
    int n = 0, in_cards = 0;
    phase[0] = 0;
    if (!have_rules) { puts("error position: no rules yet; expected rules ... first"); return; }
    if (count < 2 || !(same(words[1], "exchange") || same(words[1], "arrange") || same(words[1], "call"))) {
        puts("error position: expected exchange, arrange or call");
        return;
    }
    for (int i = 2; i < count; i++) {
        if (same(words[i], "cards")) { in_cards = 1; continue; }
        if (!in_cards) continue;
        int card = card_of(words[i]);
        if (card < 0) in_cards = 0; /* the next field */
        else if (n < CARDS) cards[n++] = card;
        else n = CARDS + 1;
    }
    if (n != cards_dealt) { printf("error position: cards: expected %d\n", cards_dealt); return; }
    for (int i = 0; words[1][i]; i++) words[1][i] = (char)tolower((unsigned char)words[1][i]);
    strcpy(phase, words[1]);
    puts("ok position");
}

int main(void) {
    static char line[LINE + 2];
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* every line is sent at once */
    while (fgets(line, sizeof line, stdin)) {
        char *words[WORDS], *start = strncmp(line, "\xef\xbb\xbf", 3) ? line : line + 3;
        int count = 0, too_long = !strchr(line, '\n') && strlen(line) > LINE;
        for (int c; too_long && (c = getchar()) != EOF && c != '\n';) {}
        if (too_long) { puts("error a line of more than 8192 bytes"); continue; }
        for (char *word = strtok(start, " \t\r\n"); word && count < WORDS; word = strtok(NULL, " \t\r\n")) words[count++] = word;
        if (!count) continue;
        if (same(words[0], "hello")) puts("info name greedy.c\nok hello 1");
        else if (same(words[0], "rules")) read_rules(words, count);
        else if (same(words[0], "position")) read_position(words, count);
        else if (same(words[0], "decide")) phase[0] ? decide() : (void)puts("error decide: no position yet; expected position ... first");
        else if (same(words[0], "seed")) puts("ok seed"); /* it draws nothing */
        else if (same(words[0], "ping")) { fputs("ok", stdout); for (int i = 0; i < count; i++) printf(" %s", i ? words[i] : "ping"); putchar(10); }
        else if (same(words[0], "quit")) { puts("ok quit"); return 0; }
        else puts("error no such command; expected hello, rules, position, decide, seed, ping, quit");
    }
    return 0;
}
