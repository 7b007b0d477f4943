/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/text.h"

static void utf8_locale(void)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

struct pair {
	const char *in, *out;
};

static void terminal_is(const char *in, size_t len, size_t columns, const char *out)
{
	struct text t = {0};

	text_terminal(&t, in, len, columns);
	ck_assert(!t.failed);
	ck_assert_str_eq(text_string(&t), out);
	text_free(&t);
}

START_TEST(terminal_plain)
{
	static const struct pair pairs[] = {
		{"", ""},
		{"rm -rf ./build", "rm -rf ./build"},
		{"gr\303\274\303\237e", "gr\303\274\303\237e"},
		{"\346\227\245\346\234\254", "\346\227\245\346\234\254"},
		{"a\\b\"c'", "a\\b\"c'"},
		{"e\314\201", "e\314\201"}, /* a mark on its base */
		{"\360\237\230\200", "\360\237\230\200"},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		terminal_is(pairs[i].in, strlen(pairs[i].in), 0, pairs[i].out);
}
END_TEST

START_TEST(terminal_controls)
{
	static const struct pair pairs[] = {
		{"a\nb\tc\rd", "a\\nb\\tc\\rd"},
		{"\033[2J\033]0;x\007", "\\x1b[2J\\x1b]0;x\\x07"}, {"\177", "\\x7f"},
		{"\302\233"
		 "31m",
			"\\u{9b}31m"}, /* CSI of C1 */
		{"\302\205", "\\u{85}"},
		{"\342\200\256gnp", "\\u{202e}gnp"}, /* right-to-left override */
		{"\342\201\246x\342\201\251", "\\u{2066}x\\u{2069}"}, {"\330\234", "\\u{61c}"},
		{"\342\200\213", "\\u{200b}"}, /* zero width space */
		{"\342\200\215", "\\u{200d}"}, {"\357\273\277", "\\u{feff}"},
		{"\302\255", "\\u{ad}"}, {"\342\200\250", "\\u{2028}"},
		{"\363\240\201\241", "\\u{e0061}"}, /* tag */
		{"\357\270\217", "\\u{fe0f}"}, {"\363\240\204\200", "\\u{e0100}"},
		{"rm\302\240-rf", "rm\\u{a0}-rf"}, /* looks like a space */
		{"\343\200\200", "\\u{3000}"}, {"\343\205\244", "\\u{3164}"},
		{"\342\240\200", "\\u{2800}"}, {"\356\200\200", "\\u{e000}"}, /* private use */
		{"\357\277\277", "\\u{ffff}"}, {"\364\217\277\277", "\\u{10ffff}"},
		{"\315\270", "\\u{378}"}, /* unassigned */
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		terminal_is(pairs[i].in, strlen(pairs[i].in), 0, pairs[i].out);
	terminal_is("a\0b", 3, 0, "a\\x00b");
}
END_TEST

START_TEST(terminal_invalid_utf8)
{
	static const struct pair pairs[] = {
		{"\200", "\\x80"},
		{"\233"
		 "31m",
			"\\x9b31m"},	    /* a bare C1 byte */
		{"\300\200", "\\xc0\\x80"}, /* overlong */
		{"\340\200\257", "\\xe0\\x80\\xaf"},
		{"\360\200\200\257", "\\xf0\\x80\\x80\\xaf"},
		{"\355\240\200", "\\xed\\xa0\\x80"}, /* surrogate */
		{"\364\220\200\200", "\\xf4\\x90\\x80\\x80"},
		{"\303", "\\xc3"},   /* cut off */
		{"\303(", "\\xc3("}, /* what follows is kept */
		{"\360\237\230", "\\xf0\\x9f\\x98"},
		{"\377\376", "\\xff\\xfe"},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		terminal_is(pairs[i].in, strlen(pairs[i].in), 0, pairs[i].out);
}
END_TEST

START_TEST(terminal_marks)
{
	/* none without a base, and no more than four on one */
	terminal_is("\314\201x", 3, 0, "\\u{301}x");
	terminal_is("\n\314\201", 3, 0, "\\n\\u{301}");
	terminal_is("a\314\201\314\201\314\201\314\201\314\201b", 12, 0,
		"a\314\201\314\201\314\201\314\201\\u{301}b");
}
END_TEST

START_TEST(terminal_ascii_locale)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C"));
	terminal_is("gr\303\274n \346\227\245", 9, 0, "gr\\u{fc}n \\u{65e5}");
}
END_TEST

START_TEST(terminal_elided)
{
	static const char s[] = "0123456789012345678901234567890123456789"; /* 40 */

	terminal_is(s, 40, 40, s);
	terminal_is(s, 40, 41, s);
	/* 30 - 11 for "[+nn chars]" */
	terminal_is(s, 40, 30, "0123456789012345678[+21 chars]");
	terminal_is(s, 40, 24, "0123456789012[+27 chars]");
	ck_assert_uint_eq(strlen("0123456789012[+27 chars]"), TEXT_WORD_COLUMNS);
	/* where it is narrow the word gives way */
	terminal_is(s, 40, 23, "012345678901234567[+22]");
	/* a bound that is too narrow is not taken */
	terminal_is(s, 40, 1, "0123456[+33]");
	ck_assert_uint_eq(strlen("0123456[+33]"), TEXT_MIN_COLUMNS);
}
END_TEST

START_TEST(terminal_elided_wide)
{
	struct text in = {0}, t = {0};

	/* characters of two columns each, escapes of six: never more than asked for, never half
	 */
	for (int i = 0; i < 100; i++)
		text_add(&in, i % 3 ? "\346\227\245" : "\342\200\256");
	for (size_t columns = TEXT_MIN_COLUMNS; columns < 60; columns++) {
		text_reset(&t);
		text_terminal(&t, text_string(&in), in.len, columns);
		ck_assert_uint_le(text_columns(text_string(&t), t.len), columns);
		ck_assert_ptr_nonnull(strstr(
			text_string(&t), columns < TEXT_WORD_COLUMNS ? "[+" : " chars]"));
	}
	text_free(&t);
	text_free(&in);
}
END_TEST

START_TEST(terminal_columns)
{
	ck_assert_uint_eq(text_columns("abc", 3), 3);
	ck_assert_uint_eq(text_columns("\346\227\245\346\234\254", 6), 4);
	ck_assert_uint_eq(text_columns("e\314\201", 3), 1);
	ck_assert_uint_eq(text_columns("\033", 1), 4);
}
END_TEST

static void block_is(const char *in, size_t columns, const char *out)
{
	struct text t = {0};

	text_block(&t, in, strlen(in), columns);
	ck_assert_str_eq(text_string(&t), out);
	text_free(&t);
}

START_TEST(block)
{
	block_is("", 0, "  | \n");
	block_is("a", 0, "  | a\n");
	block_is("a\n", 0, "  | a\n");
	block_is("a\n\nState: ALLOWED\n", 0, "  | a\n  | \n  | State: ALLOWED\n");
	block_is("a\r\n\314\201b", 0, "  | a\\r\n  | \\u{301}b\n");
	block_is("0123456789012345678901234", 24, "  | 01234567890123456789\n  + 01234\n");
	block_is("01234567890123456789\n1", 24, "  | 01234567890123456789\n  | 1\n");
}
END_TEST

START_TEST(log_word)
{
	struct text t = {0};

	text_log(&t, "a \"b\" \\ \n\033\342\200\256", 13, 0);
	ck_assert_str_eq(text_string(&t), "\"a \\\"b\\\" \\\\ \\n\\x1b\\u{202e}\"");
	text_reset(&t);
	text_log(&t, "0123456789", 10, 4);
	ck_assert_str_eq(text_string(&t), "\"0123\"[+6 chars]");
	text_reset(&t);
	text_log(&t, "012\"456", 7, 4);
	ck_assert_str_eq(text_string(&t), "\"012\"[+4 chars]");
	text_free(&t);
}
END_TEST

START_TEST(utf8)
{
	struct text t = {0};

	text_utf8(&t, "a\303\244\377\n\0b", 7);
	ck_assert_uint_eq(t.len, 10);
	ck_assert_mem_eq(t.data, "a\303\244\\xff\n\0b", 10);
	text_free(&t);
}
END_TEST

START_TEST(json)
{
	static const struct pair pairs[] = {
		{"{\n\t\"a\": \"\303\244\"}", "{\n\t\"a\": \"\303\244\"}"},
		{"\"\342\200\256\302\233\177\"", "\"\\u202e\\u009b\\u007f\""},
		{"\"\363\240\201\241\"", "\"\\udb40\\udc61\""},
		{"\"e\314\201\"", "\"e\\u0301\""},
		{"\"\377\"", "\"\\ufffd\""},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct text t = {0};

		text_json(&t, pairs[i].in, strlen(pairs[i].in));
		ck_assert_str_eq(text_string(&t), pairs[i].out);
		text_free(&t);
	}
}
END_TEST

START_TEST(shell)
{
	static const struct pair pairs[] = {
		{"ls", "ls"},
		{"./a-b_c/d.e:f,g+h%i@j", "./a-b_c/d.e:f,g+h%i@j"},
		{"--opt=path", "--opt=path"},
		{"A=b", "'A=b'"}, /* would be an assignment */
		{"", "''"},
		{"a b", "'a b'"},
		{"it's", "'it'\\''s'"},
		{"$HOME", "'$HOME'"},
		{"*", "'*'"},
		{"a\nb", "'a\nb'"},
		{"~", "'~'"},
		{"#x", "'#x'"},
		{"{a,b}", "'{a,b}'"},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct text t = {0};

		text_shell(&t, pairs[i].in);
		ck_assert_str_eq(text_string(&t), pairs[i].out);
		text_free(&t);
	}
}
END_TEST

START_TEST(string_grows)
{
	struct text t = {0};

	ck_assert_str_eq(text_string(&t), "");
	for (int i = 0; i < 1000; i++)
		text_printf(&t, "%03d", i);
	ck_assert_uint_eq(t.len, 3000);
	ck_assert_int_eq(strncmp(t.data + 2997, "999", 4), 0);
	text_fill(&t, 'x', 63);
	ck_assert_uint_eq(strlen(t.data), 3063);
	/* what can't be is a failure that stays, and the text keeps what it had */
	text_fill(&t, 'x', SIZE_MAX / 2);
	ck_assert(t.failed);
	text_add(&t, "y");
	ck_assert_uint_eq(t.len, 3063);
	text_free(&t);
	ck_assert_ptr_null(t.data);
	ck_assert(!t.failed);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("text");
	TCase *tc = tcase_create("text");
	SRunner *sr = srunner_create(s);

	tcase_add_checked_fixture(tc, utf8_locale, NULL);
	tcase_add_test(tc, terminal_plain);
	tcase_add_test(tc, terminal_controls);
	tcase_add_test(tc, terminal_invalid_utf8);
	tcase_add_test(tc, terminal_marks);
	tcase_add_test(tc, terminal_ascii_locale);
	tcase_add_test(tc, terminal_elided);
	tcase_add_test(tc, terminal_elided_wide);
	tcase_add_test(tc, terminal_columns);
	tcase_add_test(tc, block);
	tcase_add_test(tc, log_word);
	tcase_add_test(tc, utf8);
	tcase_add_test(tc, json);
	tcase_add_test(tc, shell);
	tcase_add_test(tc, string_grows);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
