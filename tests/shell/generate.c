/* SPDX-License-Identifier: MIT */
/*
 * Command texts out of a grammar that covers what the reader reads. The commands in them
 * are `p`, which records its arguments, and builtins that do no harm; no other word can
 * become the name of a program, since there is none in the PATH that they run with.
 */
#include "tests/shell/generate.h"

#include <stdio.h>
#include <string.h>

static void list(struct generator *g, const char *end);
static void command(struct generator *g);

/* splitmix64 */
uint64_t generate_random(struct generator *g)
{
	uint64_t z = g->seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned below(struct generator *g, unsigned n)
{
	return (unsigned)(generate_random(g) % n);
}

static bool one_in(struct generator *g, unsigned n)
{
	return below(g, n) == 0;
}

static void put(struct generator *g, const char *text)
{
	const size_t n = strlen(text);

	if (g->len + n <= GENERATE_MAX) {
		memcpy(g->text + g->len, text, n);
		g->len += n;
	}
}

static const char *pick(struct generator *g, const char *const *texts, size_t n)
{
	return texts[below(g, (unsigned)n)];
}

#define PICK(g, ...)                                                                           \
	pick(g, (const char *const[]){__VA_ARGS__},                                            \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void blank(struct generator *g)
{
	put(g, one_in(g, 20) ? PICK(g, "\t", "  ", " \\\n", " \\\n\t") : " ");
}

/* After a newline the bodies that are due. */
static void newline(struct generator *g)
{
	put(g, "\n");
	for (unsigned i = 0; i < g->docs; i++) {
		for (unsigned n = below(g, 4); n > 0; n--) {
			put(g, PICK(g, "line ", "$x ", "\"q' ", "`", "\\$y ", "\\\\", "(", "E2",
				       "$((1+1)) ", "a\\b "));
			if (g->text[g->len - 1] == '`')
				put(g, "p d`");
			if (one_in(g, 4)) {
				put(g, "$(p doc");
				put(g, PICK(g, "1", "2", " 'x)'"));
				put(g, ")");
			}
			put(g, "\n");
		}
		put(g, g->quoted[i] ? "Q\n" : "E\n");
	}
	g->docs = 0;
}

/* ---- words ---- */

static void single(struct generator *g)
{
	put(g, "'");
	for (unsigned n = below(g, 4); n > 0; n--)
		put(g, PICK(g, "a", " ", "$x", "\\", "\"", "*", "`", ";", "|", "#", "(",
			       "{a,b}", "~", "&&", "!", "[", "-"));
	put(g, "'");
}

static void substitution(struct generator *g, bool quoted)
{
	const unsigned docs = g->docs;

	if (g->depth > 3)
		return;
	g->depth++;
	g->docs = 0;
	if (one_in(g, 3) && !quoted) {
		put(g, "`p b");
		put(g, PICK(g, "", " \\$x", " 'q'", "; p c", " \\\\a"));
		put(g, "`");
	} else {
		put(g, "$(");
		list(g, one_in(g, 6) ? "\n)" : ")");
	}
	g->docs = docs;
	g->depth--;
}

static void parameter(struct generator *g, bool quoted)
{
	put(g, PICK(g, "$x", "${x}", "${x:-w}", "$HOME", "${HOME}", "$PWD/q", "$1", "$#", "$?",
		       "${x#a}", "$$", "$y", "${x:-$y}", "$HOME/d"));
	if (!g->sh && one_in(g, 3))
		put(g, PICK(g, "${x/a/b}", "${x^^}", "${#x}", "${x:1:2}", "${!x}", "${a[@]}",
			       "${a[0]}", "${x@Q}"));
	if (one_in(g, 8) && !quoted)
		put(g, "${x:-'}'}");
	if (one_in(g, 8))
		put(g, "${x:-\"b c\"}");
}

static void double_quoted(struct generator *g)
{
	put(g, "\"");
	for (unsigned n = below(g, 4); n > 0; n--) {
		put(g, PICK(g, "a", " ", "\\$x", "\\\\", "\\\"", "*", "'", ";", "\\a", "#", "(",
			       "{a,b}", "~", "&", "!", "[b]", "\\`", "$ ", "\\\n"));
		if (one_in(g, 5))
			parameter(g, true);
		if (one_in(g, 12))
			substitution(g, true);
	}
	put(g, "\"");
}

static void ansi(struct generator *g)
{
	put(g, "$'");
	for (unsigned n = 1 + below(g, 3); n > 0; n--)
		put(g, PICK(g, "a", " ", "\\n", "\\t", "\\'", "\\\\", "\\x41", "\\101", "\\\"",
			       "$x", "*", "\\e", "\\u41", "\\q", "\\?", "\\x5c"));
	put(g, "'");
}

static void braces(struct generator *g, unsigned depth)
{
	put(g, PICK(g, "{a,b}", "{1..3}", "{b,c}{1,2}", "x{,y}", "{3..1}", "{a..c}", "{01..3}",
		       "{1..5..2}", "{a,b", "a,b}", "{}", "{a}", "{-1..1}", "{a..3}",
		       "{\"a b\",c}", "{$x,y}", "{~,z}", "{c..a..2}", "{a,'}'}", "{,}",
		       "{'a,b'}", "a{b,c}d", "{a,{b,c}}", "{\\,,z}", "{a,b}}", "{{a,b}",
		       "{1..2}{x}"));
	if (depth && one_in(g, 3)) {
		put(g, "{p");
		braces(g, depth - 1);
		put(g, ",q}");
	}
}

static void part(struct generator *g)
{
	switch (below(g, 22)) {
	case 0:
	case 1: single(g); break;
	case 2:
	case 3: double_quoted(g); break;
	case 4:
		if (!g->sh)
			ansi(g);
		break;
	case 5:
		put(g, "\\");
		put(g, PICK(g, "a", " ", "$", "\\", "'", "\"", "*", "{", "~", "#", ";", "|"));
		break;
	case 6: parameter(g, false); break;
	case 7:
		if (one_in(g, 2))
			substitution(g, false);
		break;
	case 8: put(g, PICK(g, "$((1+2))", "$((x*2))", "$(( (1) ))", "$((1<<2))")); break;
	case 9: put(g, PICK(g, "*", "?.c", "[ab]", "[!a]*", "a*", "[", "]", "[]", "[a")); break;
	case 10:
		if (!g->sh)
			braces(g, 2);
		break;
	case 11:
		put(g, PICK(g, "~", "~/z", "=~/y", "A=~/x", ":~", "~+", "A=b:~/c", "~\"/q\""));
		break;
	case 12:
		if (!g->sh && one_in(g, 4) && g->depth < 3) {
			g->depth++;
			put(g, "<(");
			list(g, ")");
			g->depth--;
		}
		break;
	case 13: put(g, one_in(g, 5) ? "\\\n" : "k"); break;
	default:
		put(g, PICK(g, "a", "b", "x1", "-f", "foo.c", "A=b", "%", "@", "+", "^", "!",
			       "a#b", ":", "/y", ",", "..", "--", "-rf", "=", "a=", "2",
			       "\xc3\xa9", "\r", "\xa0", "a{b", "}"));
		break;
	}
}

static void word(struct generator *g)
{
	const size_t before = g->len;

	for (unsigned n = 1 + below(g, 3); n > 0; n--)
		part(g);
	if (g->len == before || g->text[before] == '#')
		put(g, "w");
}

/* ---- commands ---- */

static void redirect(struct generator *g)
{
	switch (below(g, 10)) {
	case 0: put(g, ">f1"); break;
	case 1: put(g, PICK(g, ">>f2", "2>/dev/null", ">/dev/null", "2> f3")); break;
	case 2: put(g, PICK(g, "2>&1", ">&2", "</dev/null", "<&0", "3>&1", "3>&-")); break;
	case 3: put(g, g->sh ? ">|f4" : PICK(g, "&>f5", ">&f6", "&>>f7", ">|f4")); break;
	case 4:
		put(g, g->sh ? "</dev/null" : PICK(g, "<<<word", "<<< \"$x y\"", "<<<$x"));
		break;
	case 5:
	case 6:
		if (g->docs < 3 && g->depth < 3) {
			g->quoted[g->docs] = one_in(g, 2);
			put(g, g->quoted[g->docs]
					? PICK(g, "<<'Q'", "<<\"Q\"", "<<\\Q", "<< 'Q'")
					: PICK(g, "<<E", "<< E"));
			g->docs++;
			break;
		}
		put(g, "</dev/null");
		break;
	case 7:
		if (!g->sh && g->depth < 3) {
			g->depth++;
			put(g, "< <(");
			list(g, ")");
			g->depth--;
			break;
		}
		put(g, ">f1");
		break;
	default: put(g, ">/dev/null"); break;
	}
}

static void operands(struct generator *g)
{
	for (unsigned n = below(g, 4); n > 0; n--) {
		blank(g);
		word(g);
	}
	if (one_in(g, 6)) {
		blank(g);
		redirect(g);
		if (one_in(g, 3)) {
			blank(g);
			word(g);
		}
	}
}

static void simple(struct generator *g)
{
	if (one_in(g, 12)) {
		put(g, PICK(g, "x=", "y=", "z+=", "x=a:~/b y="));
		if (g->sh && g->text[g->len - 2] == '+')
			g->len -= 2, put(g, "=");
		if (one_in(g, 2))
			word(g);
		if (!one_in(g, 3)) {
			blank(g);
		} else {
			return;
		}
	}
	if (one_in(g, 30) && !g->sh) {
		put(g, "a=(");
		word(g);
		blank(g);
		word(g);
		put(g, ")");
		return;
	}
	if (one_in(g, 20)) {
		redirect(g);
		blank(g);
	}
	put(g, PICK(g, "p", "p", "p", "p", "p", "p", "p", "\\p", "'p'", "p\"\"", "p\\\n"));
	operands(g);
}

/* A text within single quotes, for eval and the like. */
static void quoted_text(struct generator *g)
{
	struct generator inner = {.seed = generate_random(g), .depth = 3};

	inner.sh = g->sh || g->text[g->len - 1] == '#';
	if (g->text[g->len - 1] == '#')
		g->len--;
	list(&inner, "");
	inner.text[inner.len] = '\0';
	put(g, "'");
	if (strchr(inner.text, '\'') || inner.docs || strlen(inner.text) != inner.len)
		put(g, "p t; p u v");
	else
		put(g, inner.text);
	put(g, "'");
}

static void wrapped(struct generator *g)
{
	switch (below(g, 15)) {
	case 0: put(g, "command "); break;
	case 1:
		put(g, "eval ");
		quoted_text(g);
		return;
	case 2:
		put(g, g->sh ? "eval " : "bash -c ");
		quoted_text(g);
		return;
	case 3: put(g, "env A=b "); break;
	case 4: put(g, "timeout 5 "); break;
	case 5: put(g, "nice -n 1 nohup "); break;
	case 6: put(g, "echo a b | xargs -n 1 "); break;
	case 7:
		put(g, "sh -c #");
		quoted_text(g);
		return;
	case 8: put(g, "find . -maxdepth 0 -exec p {} \\; ; "); break;
	case 9:
		put(g, "trap ");
		quoted_text(g);
		put(g, " EXIT");
		return;
	case 10:
		put(g, "cd "), put(g, PICK(g, "a", "b", "a/b", "..", ".", "nowhere", "-", "$x",
					      "a && cd b"));
		return;
	case 11:
		put(g, PICK(g, "true", "false", ":", "exit", "break", "return", "set -e",
			       "set -- a b"));
		return;
	case 12:
		put(g, "f() { ");
		list(g, "; }");
		put(g, "; f");
		operands(g);
		return;
	case 13:
		put(g, "export ");
		put(g, PICK(g, "x=1", "y=~/q", "x", "x=\"$y\""));
		return;
	default: put(g, "(cd a && p in); "); break;
	}
	simple(g);
}

static void condition(struct generator *g)
{
	put(g, "[[ ");
	put(g, PICK(g, "a == a", "$x = *b", "-n $x", "! -e q", "a < b && ( c > a )",
		       "$x =~ ^(a|b)$", "-z \"\"", "1 -eq 1 || a", "$(p cond) == x", "a"));
	put(g, " ]]");
}

static void loop(struct generator *g, const char *head)
{
	put(g, head);
	put(g, PICK(g, "; do ", "\ndo\n", "; do\n"));
	list(g, one_in(g, 3) ? "\ndone" : "; done");
}

static void compound(struct generator *g)
{
	switch (below(g, 12)) {
	case 0:
	case 1:
		put(g, "if ");
		list(g, "; then ");
		list(g, one_in(g, 2) ? "; else " : "; elif true; then ");
		list(g, "; fi");
		break;
	case 2: loop(g, "for x in 1 2 {a,b} $y"); break;
	case 3: loop(g, g->sh ? "for x in a b" : "for ((i=0; i<2; i++))"); break;
	case 4:
		loop(g, PICK(g, "while false", "until p until; true", "while p w && false"));
		break;
	case 5:
		put(g, "case ");
		word(g);
		put(g, PICK(g, " in a) ", " in (a|b) ", " in\n*.c | \"x y\") ", " in *) "));
		list(g, ";;");
		put(g, PICK(g, " esac", " *) p dflt;; esac", "\nb) esac"));
		break;
	case 6:
		put(g, "{ ");
		list(g, "; }");
		break;
	case 7:
	case 8:
		put(g, "(");
		list(g, ")");
		break;
	case 9:
		if (!g->sh) {
			condition(g);
			break;
		}
		put(g, "(");
		list(g, ")");
		break;
	case 10:
		if (!g->sh) {
			put(g, PICK(g, "((1+1))", "((x=2))", "(( x < 3 && (y > 1) ))"));
			break;
		}
		put(g, "true");
		break;
	default:
		put(g, g->sh ? "g() { " : PICK(g, "function g { ", "g() { ", "g ()\n{ "));
		list(g, "; }");
		break;
	}
	if (one_in(g, 6)) {
		blank(g);
		put(g, PICK(g, ">f8", "2>/dev/null", "</dev/null", ">/dev/null 2>&1"));
	}
}

static void command(struct generator *g)
{
	const unsigned kind = below(g, 10);

	g->depth++;
	if (one_in(g, 20))
		put(g, "! ");
	if (kind < 2 && g->depth < 4)
		compound(g);
	else if (kind < 4 && g->depth < 5)
		wrapped(g);
	else
		simple(g);
	g->depth--;
}

static void list(struct generator *g, const char *end)
{
	for (unsigned n = 1 + below(g, g->depth < 2 ? 3 : 2); n > 0; n--) {
		command(g);
		if (n == 1)
			break;
		put(g, PICK(g, " && ", " || ", "; ", " | ", "\n", " &&\n", "&&", ";", "|",
			       " & ", " # comment ' \"\n", g->sh ? " | " : " |& "));
		if (g->text[g->len - 1] == '\n') {
			g->len--;
			newline(g);
		}
	}
	if (g->docs) {
		newline(g);
		if (*end == ';' && end[1] != ';')
			end++;
	} else if (one_in(g, 12)) {
		put(g, " ");
	}
	put(g, end);
}

void generate_text(struct generator *g, bool mutated)
{
	static const char bytes[] = "'\"\\$`(){}[]<>|&;# \n\t=~*!p0a";

	g->len = 0;
	g->depth = 0;
	g->docs = 0;
	list(g, "");
	if (!mutated)
		return;
	for (unsigned n = 1 + below(g, 3); n > 0 && g->len > 1; n--) {
		const size_t at = below(g, (unsigned)g->len);
		const char c = bytes[below(g, sizeof(bytes) - 1)];

		switch (below(g, 4)) {
		case 0: g->text[at] = c; break;
		case 1:
			memmove(g->text + at, g->text + at + 1, g->len - at - 1);
			g->len--;
			break;
		case 2: g->len = at + 1; break;
		default:
			memmove(g->text + at + 1, g->text + at, g->len - at);
			g->text[at] = c;
			g->len++;
			break;
		}
	}
}
