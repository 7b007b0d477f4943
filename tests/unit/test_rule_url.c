/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/idna.h"
#include "broker/core/rules/urlhost.h"

#define N(a) (sizeof(a) / sizeof(*(a)))

START_TEST(certain)
{
	static const char *const cases[][2] = {
		{"https://example.org", "example.org"},
		{"http://example.org/", "example.org"},
		{"HTTPS://EXAMPLE.ORG.:8443/x", "example.org"},
		{"https://example.org:/", "example.org"},
		{"https://example.org?q", "example.org"},
		{"https://example.org#f", "example.org"},
		{"https://example.org/@user", "example.org"},
		{"https://example.org/a\\b", "example.org"},
		{"https://u:p@example.org/", "example.org"},
		{"https://good.test@evil.test/", "evil.test"},
		{"https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de"},
		{"https://a_b.example/", "a_b.example"},
		{"https://127.0.0.1:80/", "127.0.0.1"},
		{"https://127.0.0.1./", "127.0.0.1"},
		{"https://[::1]/", "[::1]"},
		{"https://[2001:db8::1]:443/", "[2001:db8::1]"},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct url_reading r;

		url_read(bytes_of(cases[i][0]), &r);
		ck_assert_msg(r.certain && r.n == 1 && !r.unknown, "%s", cases[i][0]);
		ck_assert_str_eq(r.hosts[0].text, cases[i][1]);
	}
}
END_TEST

/* Not certain; the host, or the hosts, that may be meant are among the readings. */
START_TEST(doubtful)
{
	static const struct {
		const char *url;
		const char *hosts[3];
		bool unknown;
	} cases[] = {
		{"https:\\\\evil.test\\x", {"evil.test"}},
		{"https://evil.test\\@good.test/", {"evil.test", "good.test"}},
		{"https://good.test\\.evil.test/", {"good.test"}, false},
		{"https:evil.test", {"evil.test"}},
		{"https:/evil.test/", {"evil.test"}},
		{"https:///evil.test/", {"evil.test"}},
		{"https:////evil.test/", {"evil.test"}},
		{"//evil.test/", {"evil.test"}},
		{"evil.test/x", {"evil.test"}},
		{"evil.test:80/x", {"evil.test"}, true},
		{"ftp://evil.test/", {"evil.test"}},
		{"wss://evil.test/", {"evil.test"}},
		{"view-source:https://evil.test/", {NULL}, true},
		{"file:///etc/passwd", {"etc"}},
		{" https://evil.test/", {"evil.test"}},
		{"https://evil.test/ ", {"evil.test"}},
		{"ht\ntps://ev\til.te\rst/", {"evil.test"}},
		{"https://e%76il.test/", {"evil.test"}},
		{"https://evil%2Etest/", {"evil.test"}},
		{"https://good.test%2F.evil.test/", {NULL}, true},
		{"https://good.test%00.evil.test/", {NULL}, true},
		{"https://a@b@evil.test/", {"evil.test", "b"}},
		{"https://good.test#@evil.test/", {"good.test", "evil.test"}},
		{"https://good.test?@evil.test/", {"good.test", "evil.test"}},
		{"https://evil.test:99999/", {"evil.test"}},
		{"https://evil.test:8x/", {NULL}, true},
		{"https://evil test/", {NULL}, true},
		{"https://", {NULL}, true},
		{"https:///", {NULL}, true},
		{"", {NULL}, true},
		{"https://127.1/", {"127.0.0.1"}},
		{"https://2130706433/", {"127.0.0.1"}},
		{"https://0x7f.0.0.1/", {"127.0.0.1"}},
		{"https://0x7F000001/", {"127.0.0.1"}},
		{"https://0177.0.0.01/", {"127.0.0.1"}},
		{"https://%31%32%37.0.0.1/", {"127.0.0.1"}},
		{"https://256.0.0.1/", {NULL}, true},
		{"https://1.2.3.4.5/", {NULL}, true},
		{"https://1.2.3.09/", {NULL}, true},
		{"https://[::ffff:127.0.0.1]/", {"[::ffff:7f00:1]", "127.0.0.1"}},
		{"https://[::ffff:7f00:1]/", {"[::ffff:7f00:1]", "127.0.0.1"}},
		{"https://[0:0:0:0:0:0:0:1]/", {"[::1]"}},
		{"https://[::1/", {NULL}, true},
		{"https://[::1]x/", {NULL}, true},
		{"https://[1::2::3]/", {NULL}, true},
		{"https://[12345::]/", {NULL}, true},
		{"https://\xef\xbd\x85vil.test/", {"evil.test"}},     /* fullwidth e */
		{"https://evil\xe3\x80\x82test/", {"evil.test"}},     /* ideographic stop */
		{"https://ev\xc2\xadil.test/", {"evil.test"}},	      /* soft hyphen */
		{"https://\xf0\x9d\x94\xa2vil.test/", {"evil.test"}}, /* Fraktur */
		{"https://\xe2\x93\x94vil.test/", {"evil.test"}},     /* circled */
		{"https://M\xc3\x9cnchen.de/", {"xn--mnchen-3ya.de"}},
		{"https://\xd0\xb5vil.test/", {"xn--vil-qdd.test"}}, /* Cyrillic */
		{"https://a\xcc\x88.test/", {NULL}, true},	     /* needs tables */
		{"https://\xff.test/", {NULL}, true},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct url_reading r;

		url_read(bytes_of(cases[i].url), &r);
		ck_assert_msg(!r.certain, "%s", cases[i].url);
		ck_assert_msg(r.unknown == cases[i].unknown, "%s: unknown %d", cases[i].url,
			r.unknown);
		for (size_t k = 0; k < 3 && cases[i].hosts[k]; k++) {
			bool found = false;

			for (unsigned h = 0; h < r.n; h++)
				found |= strcmp(r.hosts[h].text, cases[i].hosts[k]) == 0;
			ck_assert_msg(found, "%s: not %s but %s", cases[i].url,
				cases[i].hosts[k], r.n ? r.hosts[0].text : "none");
		}
	}
}
END_TEST

START_TEST(within)
{
	static const struct {
		const char *host, *domain;
		bool within;
	} cases[] = {
		{"example.org", "example.org", true},
		{"docs.example.org", "example.org", true},
		{"a.b.example.org", "EXAMPLE.org.", true},
		{"badexample.org", "example.org", false},
		{"example.org.evil.test", "example.org", false},
		{"org", "example.org", false},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "0.0.1", false},
		{"[::1]", "[0:0::1]", true},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct urlhost host, domain;

		ck_assert_int_ge(urlhost_parse(bytes_of(cases[i].host), &host), 0);
		ck_assert_int_ge(urlhost_parse(bytes_of(cases[i].domain), &domain), 0);
		ck_assert_msg(urlhost_within(&host, &domain) == cases[i].within, "%s in %s",
			cases[i].host, cases[i].domain);
	}
}
END_TEST

START_TEST(punycode)
{
	/* of RFC 3492 section 7.1, and others */
	static const char *const cases[][2] = {
		{"\xe4\xbb\x96\xe4\xbb\xac\xe4\xb8\xba\xe4\xbb\x80\xe4\xb9\x88\xe4\xb8\x8d\xe8"
		 "\xaf\xb4"
		 "\xe4\xb8\xad\xe6\x96\x87",
			"xn--ihqwcrb4cv8a8dqg056pqjye"},
		{"b\xc3\xbc"
		 "cher.example",
			"xn--bcher-kva.example"},
		{"fa\xc3\xa7"
		 "ade",
			"xn--faade-zra"},
	};

	for (size_t i = 0; i < N(cases); i++) {
		char out[128];
		size_t n = 0;

		ck_assert_int_eq(idna_to_ascii(bytes_of(cases[i][0]), out, sizeof(out), &n), 0);
		ck_assert_msg(
			bytes_is((struct bytes){out, n}, cases[i][1]), "%.*s", (int)n, out);
	}
}
END_TEST

START_TEST(long_ones)
{
	char url[8192];
	struct url_reading r;

	memset(url, 'a', sizeof(url));
	memcpy(url, "https://", 8);
	url_read((struct bytes){url, sizeof(url)}, &r);
	ck_assert(!r.certain && r.unknown);
	/* a long path does not matter */
	memcpy(url, "https://example.org/", 20);
	url_read((struct bytes){url, 4000}, &r);
	ck_assert(r.certain);
	ck_assert_str_eq(r.hosts[0].text, "example.org");
}
END_TEST

/* Any bytes: nothing is read or written where it must not be, and a certain host is plain. */
START_TEST(any_bytes)
{
	static const char pieces[] = "htps:/\\@?#%[]:.01xaf-_\t\n \xc3\xa4\xef\xbd\x85\xff";
	uint64_t seed = 7;

	for (int round = 0; round < 200000; round++) {
		char *const url = malloc(24);
		struct url_reading r;
		size_t n = 0;

		if (round & 1) {
			memcpy(url, "http://", 7);
			n = 7;
		}
		for (size_t len = n + (size_t)(seed >> 60); n < len; n++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			url[n] = pieces[(seed >> 33) % (sizeof(pieces) - 1)];
		}
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		url_read((struct bytes){url, n}, &r);
		ck_assert_uint_le(r.n, URLHOST_READINGS);
		ck_assert(!r.certain || (r.n == 1 && !r.unknown));
		ck_assert(r.n > 0 || r.unknown || n == 0);
		for (unsigned i = 0; i < r.n; i++) {
			struct urlhost again;

			/* what was made normal is */
			ck_assert_uint_eq(strlen(r.hosts[i].text), r.hosts[i].len);
			ck_assert_msg(urlhost_parse(bytes_of(r.hosts[i].text), &again) == 0,
				"%s", r.hosts[i].text);
			ck_assert_str_eq(again.text, r.hosts[i].text);
		}
		free(url);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_url");
	TCase *t = tcase_create("urls");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, certain);
	tcase_add_test(t, doubtful);
	tcase_add_test(t, within);
	tcase_add_test(t, punycode);
	tcase_add_test(t, long_ones);
	tcase_add_test(t, any_bytes);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
