/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/use.h"

#include <stdlib.h>

#define FILES(name, writes)                                                                    \
	{                                                                                      \
		name, USE_FILES, false, "", writes, "", ""                                     \
	}
#define ALL(name, shape)                                                                       \
	{                                                                                      \
		name, shape, false, "", "", "", ""                                             \
	}
#define SHELL(name)                                                                            \
	{                                                                                      \
		name, USE_SCRIPT, false, "", "", "", "c command "                              \
	}
#define SCRIPT(name, in_place)                                                                 \
	{                                                                                      \
		name, USE_SCRIPT, false, "", "", in_place, "e E p r eval print "               \
	}
#define PYTHON(name)                                                                           \
	{                                                                                      \
		name, USE_SCRIPT, false, "", "", "", "c m "                                    \
	}
#define GREP(name)                                                                             \
	{                                                                                      \
		name, USE_FILES, false, "r R ", "", "", ""                                     \
	}
#define SEARCH(name)                                                                           \
	{                                                                                      \
		name, USE_FILES, true, "", "", "", ""                                          \
	}
#define EDIT(name)                                                                             \
	{                                                                                      \
		name, USE_FILES, false, "", "", "i in-place ", ""                              \
	}
#define COMPILE(name)                                                                          \
	{                                                                                      \
		name, USE_OTHER, false, "", "o ", "", ""                                       \
	}
#define PACK(name)                                                                             \
	{                                                                                      \
		name, USE_WRITE, false, "r ", "", "", ""                                       \
	}
#define FORGE(name)                                                                            \
	{                                                                                      \
		name, USE_OTHER, false, "", "", "",                                            \
			"t b n d m title body notes description message subject comment "      \
			"reason label search jq q template "                                   \
	}

/* In the order of the names. */
static const struct use uses[] = {
	ALL(".", USE_SOURCE),
	SCRIPT("Rscript", ""),
	ALL("[", USE_TEST),
	SEARCH("ack"),
	SEARCH("ag"),
	{"age", USE_FILES, false, "", "o output ", "", ""},
	SHELL("ash"),
	FILES("awk", ""),
	FILES("b2sum", ""),
	FILES("base32", ""),
	FILES("base64", ""),
	SHELL("bash"),
	FILES("bat", ""),
	FILES("batcat", ""),
	ALL("blkdiscard", USE_WRITE),
	SCRIPT("bun", ""),
	PACK("bunzip2"),
	PACK("bzip2"),
	COMPILE("c++"),
	FILES("cat", ""),
	COMPILE("cc"),
	ALL("cd", USE_NAMES),
	ALL("chattr", USE_PERMIT),
	ALL("chgrp", USE_PERMIT),
	ALL("chmod", USE_PERMIT),
	ALL("chown", USE_PERMIT),
	FILES("cksum", ""),
	COMPILE("clang"),
	COMPILE("clang++"),
	FILES("cmp", ""),
	FILES("column", ""),
	FILES("comm", ""),
	{"cp", USE_COPY, false, "r R a ", "t ", "", ""},
	{"curl", USE_OTHER, false, "", "o D c output-dir trace trace-ascii stderr ", "", ""},
	FILES("cut", ""),
	SHELL("dash"),
	ALL("dd", USE_DD),
	SCRIPT("deno", ""),
	{"diff", USE_FILES, false, "r ", "output ", "", ""},
	ALL("du", USE_NAMES),
	ALL("ed", USE_WRITE),
	GREP("egrep"),
	ALL("emacs", USE_WRITE),
	ALL("ex", USE_WRITE),
	GREP("fgrep"),
	ALL("file", USE_NAMES),
	ALL("find", USE_FIND),
	SHELL("fish"),
	FILES("fold", ""),
	COMPILE("g++"),
	FILES("gawk", ""),
	COMPILE("gcc"),
	FORGE("gh"),
	FORGE("glab"),
	{"gpg", USE_FILES, false, "", "o output ", "", ""},
	GREP("grep"),
	PACK("gunzip"),
	PACK("gzip"),
	FILES("head", ""),
	FILES("hexdump", ""),
	FILES("iconv", "o output "),
	{"install", USE_COPY, false, "", "t target-directory ", "", "m o g mode owner group "},
	FILES("join", ""),
	FILES("jq", ""),
	SCRIPT("julia", ""),
	SHELL("ksh"),
	COMPILE("ld"),
	FILES("less", ""),
	{"ln", USE_COPY, false, "", "t ", "", ""},
	ALL("ls", USE_NAMES),
	SCRIPT("lua", ""),
	FILES("mawk", ""),
	FILES("md5sum", ""),
	ALL("mkdir", USE_FOLDER),
	ALL("mkfifo", USE_WRITE),
	ALL("mknod", USE_WRITE),
	ALL("mkswap", USE_WRITE),
	FILES("more", ""),
	{"mv", USE_MOVE, false, "", "t ", "", ""},
	ALL("nano", USE_WRITE),
	FILES("nawk", ""),
	FILES("nl", ""),
	SCRIPT("node", ""),
	SCRIPT("nodejs", ""),
	ALL("nvim", USE_WRITE),
	FILES("od", ""),
	{"openssl", USE_FILES, false, "", "out keyout ", "", ""},
	SCRIPT("osascript", ""),
	FILES("paste", ""),
	{"patch", USE_FIRST, false, "", "o output ", "", ""},
	SCRIPT("perl", "i "),
	SCRIPT("php", ""),
	ALL("pico", USE_WRITE),
	ALL("pushd", USE_NAMES),
	SHELL("pwsh"),
	PYTHON("pypy"),
	PYTHON("python"),
	ALL("readlink", USE_NAMES),
	ALL("realpath", USE_NAMES),
	FILES("rev", ""),
	SEARCH("rg"),
	{"rm", USE_REMOVE, false, "r R ", "", "", ""},
	ALL("rmdir", USE_FOLDER),
	{"rsync", USE_COPY, false, "a r ", "", "", ""},
	SCRIPT("ruby", "i "),
	{"scp", USE_COPY, false, "r ", "", "", ""},
	EDIT("sed"),
	ALL("setfacl", USE_PERMIT),
	SHELL("sh"),
	FILES("sha1sum", ""),
	FILES("sha256sum", ""),
	FILES("sha512sum", ""),
	ALL("shred", USE_WRITE),
	FILES("sort", "o "),
	ALL("source", USE_SOURCE),
	FILES("split", ""),
	ALL("sponge", USE_WRITE),
	ALL("stat", USE_NAMES),
	FILES("strings", ""),
	FILES("tac", ""),
	FILES("tail", ""),
	ALL("tar", USE_TAR),
	SCRIPT("tclsh", ""),
	SHELL("tcsh"),
	ALL("tee", USE_WRITE),
	ALL("test", USE_TEST),
	ALL("touch", USE_WRITE),
	ALL("tree", USE_NAMES),
	ALL("truncate", USE_WRITE),
	SCRIPT("ts-node", ""),
	SCRIPT("tsx", ""),
	ALL("uniq", USE_SECOND),
	ALL("unlink", USE_WRITE),
	PACK("unxz"),
	{"unzip", USE_FILES, false, "", "d ", "", "x "},
	ALL("vi", USE_WRITE),
	ALL("view", USE_FILES),
	ALL("vim", USE_WRITE),
	FILES("wc", ""),
	{"wget", USE_OTHER, false, "", "O P o a ", "", ""},
	ALL("wipefs", USE_WRITE),
	FILES("xxd", ""),
	PACK("xz"),
	EDIT("yq"),
	FILES("zcat", ""),
	{"zip", USE_FIRST, false, "r R ", "", "", "x i "},
	SHELL("zsh"),
	PACK("zstd"),
};
#define N_USES (sizeof(uses) / sizeof(uses[0]))

static const struct use other = ALL("", USE_OTHER);

static int compare(const void *key, const void *entry)
{
	const struct use *const e = entry;

	return bytes_compare(*(const struct bytes *)key, bytes_of(e->name));
}

const struct use *use_find(struct bytes name)
{
	const char *const p = name.data;

	while (name.len > 0) {
		const struct use *const found =
			bsearch(&name, uses, N_USES, sizeof(uses[0]), compare);
		const char last = p[name.len - 1];

		if (found)
			return found;
		if (!((last >= '0' && last <= '9') || last == '.' || last == '-'))
			break;
		name.len--;
	}
	return &other;
}

const struct use *use_at(unsigned i)
{
	return i < N_USES ? &uses[i] : NULL;
}

bool use_lists(const char *list, struct bytes name)
{
	const char *p = list;

	if (!*list)
		return false;
	while (name.len > 0 && (p = memmem(p, strlen(p), name.data, name.len)) != NULL) {
		if ((p == list || p[-1] == ' ') && p[name.len] == ' ')
			return true;
		p += name.len;
	}
	return false;
}

bool use_is_output(struct bytes option)
{
	const char first = option.len ? *(const char *)option.data : 0;

	if (option.len < 3 || (first != 'o' && first != 'l'))
		return bytes_is(option, "o");
	return use_lists("out output outfile out-file output-file output-dir out-dir log-file "
			 "logfile ",
		option);
}

bool use_is_prose(struct bytes option)
{
	return option.len >= 4 &&
	       use_lists("message body title description notes subject comment reason exclude "
			 "exclude-dir ignore ignore-pattern ignore-glob skip grep ",
		       option);
}
