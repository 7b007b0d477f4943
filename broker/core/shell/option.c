/* SPDX-License-Identifier: MIT */
#include "broker/core/shell/option.h"

#include <stdlib.h>

#define GREP_LONGS                                                                             \
	"regexp=:e! file=:f ignore-case:i no-ignore-case invert-match:v word-regexp:w "        \
	"line-regexp:x count:c color?! colour?! files-without-match:L files-with-matches:l "   \
	"max-count=:m! only-matching:o quiet:q silent:q no-messages:s byte-offset:b "          \
	"with-filename:H no-filename:h label=! line-number:n initial-tab:T null:Z "            \
	"after-context=:A! before-context=:B! context=:C! text:a binary-files=! devices=:D! "  \
	"directories=:d! exclude=! exclude-from= exclude-dir=! include=! recursive:r "         \
	"dereference-recursive:R line-buffered binary:U null-data:z extended-regexp:E "        \
	"fixed-strings:F basic-regexp:G perl-regexp:P "

#define SHA_LONGS                                                                              \
	"binary:b check:c tag text:t zero:z ignore-missing quiet status strict warn:w "

/* In the order of their names. */
static const struct option_table tables[] = {
	{"awk", "Fvf", "Fv", "field-separator=:F! assign=:v! file=:f ", OPTION_TEXT_FIRST, "f"},
	{"base64", "w", "w", "decode:d ignore-garbage:i wrap=:w! ", 0, ""},
	{"cargo", "", "", "manifest-path= color?! config=! ", OPTION_SUBCOMMANDS, ""},
	{"cat", "", "",
		"show-all:A number-nonblank:b show-ends:E number:n squeeze-blank:s "
		"show-tabs:T show-nonprinting:v ",
		0, ""},
	{"cc", "oILlDUx", "lDUx", "", OPTION_NO_CLUSTER, ""},
	{"chgrp", "", "",
		"changes:c silent:f quiet:f verbose:v no-dereference:h recursive:R "
		"reference= preserve-root no-preserve-root ",
		OPTION_TEXT_FIRST, ""},
	{"chmod", "", "",
		"changes:c silent:f quiet:f verbose:v recursive:R reference= "
		"preserve-root no-preserve-root ",
		OPTION_TEXT_FIRST, ""},
	{"chown", "", "",
		"changes:c silent:f quiet:f verbose:v no-dereference:h recursive:R "
		"from=! reference= preserve-root no-preserve-root ",
		OPTION_TEXT_FIRST, ""},
	{"clang", "oILlDUx", "lDUx", "", OPTION_NO_CLUSTER, ""},
	{"cp", "St", "S",
		"archive:a backup?! force:f interactive:i link:l no-clobber:n "
		"no-dereference:P dereference:L parents recursive:r symbolic-link:s "
		"suffix=:S! target-directory=:t no-target-directory:T update:u "
		"verbose:v preserve?! no-preserve=! reflink?! ",
		0, ""},
	{"curl", "oXHdFuAebcDKTmUxyYzCrPwQtE", "XHdFuAemUxyYzCrPwQt",
		"output=:o request=:X! header=:H! data=:d! data-raw=! data-binary=! "
		"data-urlencode=! form=:F! user=:u! user-agent=:A! referer=:e! cookie=:b "
		"cookie-jar=:c dump-header=:D config=:K upload-file=:T max-time=:m! "
		"proxy=:x! range=:r! write-out=:w! remote-name:O remote-header-name:J "
		"location:L silent:s show-error:S fail:f insecure:k head:I include:i "
		"verbose:v compressed get:G cert=:E key= cacert= retry=! connect-timeout=! "
		"output-dir= trace= trace-ascii= stderr= url=! json=! ",
		0, ""},
	{"cut", "bcdf", "bcdf",
		"bytes=:b! characters=:c! delimiter=:d! fields=:f! "
		"complement only-delimited:s output-delimiter=! zero-terminated:z ",
		0, ""},
	{"date", "dfrs", "ds",
		"date=:d! file=:f iso-8601?! reference=:r rfc-3339=! set=:s! utc:u ",
		OPTION_TEXT_ALL, ""},
	{"diff", "CUIxXSFDW", "CUIxFDW",
		"brief:q recursive:r unified=:U! context=:C! ignore-case:i ignore-all-space:w "
		"ignore-space-change:b ignore-blank-lines:B new-file:N text:a side-by-side:y "
		"exclude=:x! exclude-from=:X from-file= to-file= label=! color?! width=:W! "
		"report-identical-files:s ",
		0, ""},
	{"docker", "cHl", "cHl", "config= context=:c! host=:H! log-level=:l! debug:D ",
		OPTION_SUBCOMMANDS, ""},
	{"du", "BdtX", "Bdt",
		"all:a block-size=:B! bytes:b total:c dereference:L max-depth=:d! "
		"human-readable:h summarize:s separate-dirs:S exclude=! "
		"exclude-from=:X threshold=:t! one-file-system:x apparent-size ",
		0, ""},
	{"echo", "", "", "", OPTION_TEXT_ALL, ""},
	{"egrep", "efmABCDd", "emABCDd", GREP_LONGS, OPTION_TEXT_FIRST, "ef"},
	{"expr", "", "", "", OPTION_TEXT_ALL, ""},
	{"fd", "deEtxXcjS", "deEtcjS",
		"hidden:H no-ignore:I case-sensitive:s ignore-case:i glob:g regex "
		"absolute-path:a "
		"list-details:l follow:L full-path:p max-depth=:d! type=:t! extension=:e! "
		"exclude=:E! exec=:x exec-batch=:X base-directory= search-path= ",
		OPTION_TEXT_FIRST, ""},
	{"fgrep", "efmABCDd", "emABCDd", GREP_LONGS, OPTION_TEXT_FIRST, "ef"},
	{"find", "", "",
		"name= iname= path= ipath= wholename= iwholename= lname= ilname= regex=! "
		"iregex=! "
		"type=! xtype=! size=! mtime=! mmin=! atime=! amin=! ctime=! cmin=! newer= "
		"anewer= "
		"cnewer= maxdepth=! mindepth=! perm=! user=! group=! uid=! gid=! links=! "
		"inum=! "
		"samefile= fstype=! regextype=! printf=! fprint= fprint0= fls= ",
		OPTION_SINGLE, ""},
	{"g++", "oILlDUx", "lDUx", "", OPTION_NO_CLUSTER, ""},
	{"gawk", "Fvf", "Fv", "field-separator=:F! assign=:v! file=:f ", OPTION_TEXT_FIRST,
		"f"},
	{"gcc", "oILlDUx", "lDUx", "", OPTION_NO_CLUSTER, ""},
	{"git", "Cc", "c",
		"git-dir= work-tree= namespace=! exec-path= config-env=! no-pager:P paginate:p "
		"bare "
		"no-replace-objects literal-pathspecs no-optional-locks ",
		OPTION_SUBCOMMANDS, ""},
	{"git add", "", "",
		"all:A dry-run:n verbose:v force:f interactive:i patch:p edit:e update:u "
		"intent-to-add:N "
		"refresh ignore-errors chmod=! pathspec-from-file= ",
		0, ""},
	{"git branch", "u", "u",
		"delete:d force:f move:m copy:c all:a remotes:r list:l verbose:v quiet:q "
		"set-upstream-to=:u! unset-upstream show-current contains=! no-contains=! "
		"merged=! "
		"no-merged=! sort=! format=! points-at=! track?! color?! ",
		0, ""},
	{"git checkout", "bB", "bB",
		"force:f quiet:q ours theirs track?:t! orphan=! detach:d merge:m conflict=! "
		"patch:p ",
		0, ""},
	{"git clean", "e", "e", "force:f interactive:i dry-run:n quiet:q exclude=:e! ", 0, ""},
	{"git commit", "mFCct", "mCc",
		"message=:m! file=:F all:a amend no-verify:n no-edit signoff:s "
		"reuse-message=:C! "
		"reedit-message=:c! fixup=! squash=! author=! date=! template=:t allow-empty "
		"allow-empty-message quiet:q verbose:v patch:p include:i only:o cleanup=! "
		"trailer=! edit:e no-gpg-sign gpg-sign:S ",
		0, ""},
	{"git diff", "UGSOl", "UGSl",
		"patch:p stat?! name-only name-status cached staged unified=:U! color?! "
		"word-diff?! "
		"ignore-all-space:w ignore-space-change:b output= diff-filter=! numstat "
		"shortstat "
		"summary raw minimal check exit-code quiet no-index relative?! "
		"find-renames?:M! ",
		0, ""},
	{"git fetch", "j", "j",
		"all append:a depth=! prune:p tags:t no-tags:n force:f dry-run verbose:v "
		"quiet:q "
		"jobs?:j! upload-pack=! unshallow recurse-submodules=! ",
		0, ""},
	{"git grep", "efmABC", "emABC",
		"regexp=:e! file=:f ignore-case:i word-regexp:w line-number:n "
		"files-with-matches:l count:c extended-regexp:E fixed-strings:F perl-regexp:P "
		"untracked cached open-files-in-pager?:O! max-count=:m! ",
		OPTION_TEXT_FIRST, "ef"},
	{"git log", "nGSULO", "nGSUL",
		"oneline max-count=:n! patch:p stat?! author=! committer=! grep=! since=! "
		"until=! "
		"after=! before=! format=! pretty?! graph all follow name-only name-status "
		"output= date=! decorate?! color?! reverse merges no-merges skip=! ",
		0, ""},
	{"git merge", "msX", "msX",
		"message=:m! file=:F strategy=:s! strategy-option=:X! ff no-ff ff-only squash "
		"abort "
		"continue quit no-commit no-verify quiet:q ",
		0, ""},
	{"git pull", "sX", "sX", "rebase?! force:f all append:a ff-only no-ff prune:p tags:t ",
		0, ""},
	{"git push", "o", "o",
		"force:f force-with-lease?! all mirror tags delete:d dry-run:n set-upstream:u "
		"quiet:q "
		"verbose:v no-verify prune follow-tags atomic push-option=:o! receive-pack=! "
		"exec=! "
		"repo=! porcelain signed?! ",
		0, ""},
	{"git rebase", "xsX", "xsX",
		"interactive:i onto=! exec=:x! continue abort skip quit autosquash autostash "
		"force:f "
		"strategy=:s! strategy-option=:X! root keep-base edit-todo ",
		0, ""},
	{"git reset", "", "",
		"hard soft mixed merge keep quiet:q patch:p pathspec-from-file= ", 0, ""},
	{"git restore", "s", "s", "source=:s! staged:S worktree:W patch:p quiet:q ours theirs ",
		0, ""},
	{"git rm", "", "",
		"force:f cached dry-run:n quiet:q ignore-unmatch pathspec-from-file= ", 0, ""},
	{"git show", "GSUO", "GSU",
		"stat?! patch:p name-only name-status format=! pretty?! output= ", 0, ""},
	{"git stash", "m", "m", "message=:m! all:a include-untracked:u keep-index:k patch:p ",
		0, ""},
	{"git switch", "cC", "cC",
		"create=:c! force-create=:C! detach:d force:f discard-changes:f merge:m "
		"orphan=! "
		"quiet:q track?:t! ",
		0, ""},
	{"git tag", "mFu", "mu",
		"annotate:a sign:s force:f delete:d list:l message=:m! file=:F sort=! "
		"contains=! "
		"points-at=! format=! verify:v ",
		0, ""},
	{"git worktree", "bB", "bB", "force:f detach:d checkout lock quiet:q ", 0, ""},
	{"go", "C", "", "", OPTION_SUBCOMMANDS | OPTION_SINGLE, ""},
	{"grep", "efmABCDd", "emABCDd", GREP_LONGS, OPTION_TEXT_FIRST, "ef"},
	{"gunzip", "S", "S", "decompress:d stdout:c to-stdout:c force:f keep:k recursive:r ", 0,
		""},
	{"gzip", "S", "S",
		"decompress:d uncompress:d stdout:c to-stdout:c force:f keep:k "
		"recursive:r test:t list:l ",
		0, ""},
	{"head", "cn", "cn",
		"bytes=:c! lines=:n! quiet:q silent:q verbose:v zero-terminated:z ", 0, ""},
	{"java", "", "", "cp= classpath= jar= ", OPTION_SINGLE, ""},
	{"jq", "fL", "",
		"from-file=:f raw-output:r compact-output:c exit-status:e slurp:s "
		"null-input:n sort-keys:S raw-input:R join-output:j color-output:C "
		"arg=! argjson=! slurpfile=! rawfile=! ",
		OPTION_TEXT_FIRST, "f"},
	{"kill", "sn", "sn", "signal=:s! list?:l! ", OPTION_TEXT_ALL, ""},
	{"kubectl", "nfo", "no", "namespace=:n! filename=:f output=:o! context=! kubeconfig= ",
		OPTION_SUBCOMMANDS, ""},
	{"ln", "St", "S",
		"symbolic:s force:f interactive:i no-dereference:n relative:r "
		"target-directory=:t no-target-directory:T verbose:v backup?! suffix=:S! ",
		0, ""},
	{"ls", "ITw", "ITw",
		"all:a almost-all:A author escape:b block-size=! directory:d "
		"classify?:F! human-readable:h inode:i ignore=:I! dereference:L "
		"numeric-uid-gid:n recursive:R reverse:r size:s sort=! time=! "
		"time-style=! tabsize=:T! width=:w! color?! format=! full-time "
		"group-directories-first no-group:G hide=! zero ",
		0, ""},
	{"make", "CfIoWE", "E",
		"directory=:C file=:f makefile=:f include-dir=:I jobs?:j! "
		"keep-going:k dry-run:n just-print:n always-make:B silent:s "
		"quiet:s question:q old-file=:o what-if=:W eval=:E! ",
		0, ""},
	{"mawk", "Fvf", "Fv", "", OPTION_TEXT_FIRST, "f"},
	{"md5sum", "", "", SHA_LONGS, 0, ""},
	{"mkdir", "mZ", "mZ", "mode=:m! parents:p verbose:v context?:Z! ", 0, ""},
	{"mv", "St", "S",
		"backup?! force:f interactive:i no-clobber:n suffix=:S! "
		"target-directory=:t no-target-directory:T update:u verbose:v "
		"strip-trailing-slashes ",
		0, ""},
	{"nawk", "Fvf", "Fv", "", OPTION_TEXT_FIRST, "f"},
	{"nl", "bdfhilnsvw", "bdfhilnsvw", "body-numbering=:b! number-width=:w! ", 0, ""},
	{"node", "epr", "ep",
		"eval=:e! print=:p! require=:r check:c interactive:i version:v "
		"inspect?! import=! loader= env-file= ",
		0, ""},
	{"npm", "wC", "w", "prefix=:C workspace=:w! global:g silent:s ", OPTION_SUBCOMMANDS,
		""},
	{"openssl", "", "",
		"in= out= engine=! pass=! key= cert= ", OPTION_SUBCOMMANDS | OPTION_SINGLE, ""},
	{"paste", "d", "d", "delimiters=:d! serial:s zero-terminated:z ", 0, ""},
	{"perl", "eEIMm", "eEMm", "", 0, ""},
	{"pip", "rcteif", "if",
		"requirement=:r constraint=:c target=:t editable=:e index-url=:i! "
		"user upgrade:U quiet:q ",
		OPTION_SUBCOMMANDS, ""},
	{"printf", "v", "v", "", OPTION_TEXT_ALL, ""},
	{"pushd", "", "", "", 0, ""},
	{"python", "cmWX", "cmWX", "version:V help:h ", 0, ""},
	{"python3", "cmWX", "cmWX", "version:V help:h ", 0, ""},
	{"rg", "efgtTmABCjrMEd", "egtTmABCjrMEd",
		"regexp=:e! file=:f glob=:g! iglob=! type=:t! type-not=:T! max-count=:m! "
		"after-context=:A! before-context=:B! context=:C! threads=:j! replace=:r! "
		"max-columns=:M! encoding=:E! max-depth=:d! ignore-case:i smart-case:S "
		"case-sensitive:s word-regexp:w line-number:n no-line-number:N "
		"files-with-matches:l files-without-match count:c only-matching:o hidden "
		"no-ignore unrestricted:u invert-match:v fixed-strings:F multiline:U pcre2:P "
		"text:a files color?! colors=! heading no-heading sort=! sortr=! pre= "
		"pre-glob=! "
		"ignore-file= json quiet:q vimgrep with-filename:H no-filename:I null:0 "
		"follow:L max-filesize=! ",
		OPTION_TEXT_FIRST, "ef"},
	{"rm", "", "",
		"force:f interactive?! one-file-system no-preserve-root preserve-root?! "
		"recursive:r dir:d verbose:v ",
		0, ""},
	{"rmdir", "", "", "parents:p verbose:v ignore-fail-on-non-empty ", 0, ""},
	{"rsync", "efTBMf", "eBMf",
		"archive:a verbose:v recursive:r delete dry-run:n compress:z "
		"rsh=:e! exclude=! include=! exclude-from= include-from= "
		"files-from= links:l perms:p times:t progress partial:P "
		"rsync-path=! filter=:f! ",
		0, ""},
	{"scp", "cFiJloPSD", "cJloPS", "", 0, ""},
	{"sed", "efl", "el",
		"expression=:e! file=:f quiet:n silent:n in-place?:i! regexp-extended:E "
		"separate:s null-data:z unbuffered:u line-length=:l! posix debug "
		"sandbox follow-symlinks ",
		OPTION_TEXT_FIRST, "ef"},
	{"seq", "fs", "fs", "format=:f! separator=:s! equal-width:w ", OPTION_TEXT_ALL, ""},
	{"sha1sum", "", "", SHA_LONGS, 0, ""},
	{"sha256sum", "", "", SHA_LONGS, 0, ""},
	{"sha512sum", "", "", SHA_LONGS, 0, ""},
	{"sleep", "", "", "", OPTION_TEXT_ALL, ""},
	{"sort", "kotST", "ktS",
		"key=:k! output=:o field-separator=:t! buffer-size=:S! "
		"temporary-directory=:T reverse:r numeric-sort:n unique:u "
		"check:c human-numeric-sort:h version-sort:V ignore-case:f stable:s "
		"compress-program=! files0-from= parallel=! general-numeric-sort:g "
		"month-sort:M random-sort:R dictionary-order:d zero-terminated:z "
		"ignore-leading-blanks:b merge:m ",
		0, ""},
	{"ssh", "bcDEeFIiJLlmOopQRSWw", "bcDeIJLlmOopQRSWw", "", 0, ""},
	{"stat", "ct", "c", "format=:c! printf=! dereference:L file-system:f terse:t ", 0, ""},
	{"tail", "cns", "cns",
		"bytes=:c! lines=:n! follow?:f! pid=! quiet:q silent:q retry "
		"sleep-interval=:s! verbose:v zero-terminated:z ",
		0, ""},
	{"tar", "fCTXbgHIKNFV", "bHIKNFV",
		"create:c extract:x get:x list:t append:r update:u file=:f directory=:C gzip:z "
		"bzip2:j xz:J zstd verbose:v exclude=! exclude-from=:X files-from=:T "
		"to-command=! use-compress-program=:I! checkpoint?! checkpoint-action=! "
		"strip-components=! transform=! to-stdout:O keep-old-files:k "
		"preserve-permissions:p rsh-command=! info-script=:F! new-volume-script=:F! "
		"one-top-level? remove-files ",
		0, ""},
	{"tee", "", "", "append:a ignore-interrupts:i output-error=! ", 0, ""},
	{"touch", "drt", "dt", "no-create:c date=:d! reference=:r time=! no-dereference:h ", 0,
		""},
	{"tr", "", "", "complement:c delete:d squeeze-repeats:s truncate-set1:t ",
		OPTION_TEXT_ALL, ""},
	{"tree", "LPIoH", "LPIH", "", 0, ""},
	{"uniq", "fsw", "fsw",
		"count:c repeated:d unique:u ignore-case:i skip-fields=:f! "
		"skip-chars=:s! check-chars=:w! zero-terminated:z ",
		0, ""},
	{"wc", "", "", "bytes:c chars:m lines:l words:w max-line-length:L files0-from= ", 0,
		""},
	{"wget", "OPoaiUeBtTQAR", "UeBtTQAR",
		"output-document=:O directory-prefix=:P output-file=:o append-output=:a "
		"input-file=:i user-agent=:U! execute=:e! quiet:q continue:c recursive:r "
		"header=! post-data=! post-file= no-check-certificate use-askpass=! ",
		0, ""},
	{"yq", "", "", "inplace:i null-input:n output-format=:o! ", OPTION_TEXT_FIRST, ""},
};

/* The name of a table with that of a command and a subcommand. */
static int compare(struct bytes command, struct bytes subcommand, const char *name)
{
	const size_t len = strlen(name);
	const size_t n = command.len < len ? command.len : len;
	int rc = n ? memcmp(command.data, name, n) : 0;

	if (rc || command.len > len)
		return rc ? rc : 1;
	name += command.len;
	if (subcommand.len == 0)
		return *name ? -1 : 0;
	if (*name != ' ')
		return *name ? ' ' - *name : 1;
	name++;
	{
		/* the word may hold a NUL */
		const size_t rest = strlen(name);

		rc = memcmp(subcommand.data, name, subcommand.len < rest ? subcommand.len : rest);
		return rc ? rc : (subcommand.len > rest) - (subcommand.len < rest);
	}
}

const struct option_table *option_find(struct bytes command, struct bytes subcommand)
{
	size_t low = 0, high = sizeof(tables) / sizeof(*tables);

	while (low < high) {
		const size_t middle = (low + high) / 2;
		const int rc = compare(command, subcommand, tables[middle].name);

		if (rc == 0)
			return &tables[middle];
		if (rc < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* One entry of longs; its end. */
static const char *entry_parse(const char *p, struct option_long *out)
{
	const char *const start = p;

	*out = (struct option_long){0};
	while (*p != ' ' && *p != '=' && *p != '?' && *p != ':' && *p != '!')
		p++;
	out->name = (struct bytes){start, (size_t)(p - start)};
	if (*p == '=' || *p == '?') {
		out->value = *p == '=';
		p++;
	}
	if (*p == ':') {
		out->letter = p + 1;
		p += 2;
	}
	if (*p == '!') {
		out->text = true;
		p++;
	}
	return p + 1;
}

bool option_long(const struct option_table *table, struct bytes name, struct option_long *out)
{
	struct option_long entry;
	unsigned begun = 0;

	for (const char *p = table->longs; *p;) {
		p = entry_parse(p, &entry);
		if (entry.name.len < name.len || memcmp(entry.name.data, name.data, name.len))
			continue;
		*out = entry;
		if (entry.name.len == name.len)
			return true;
		begun++;
	}
	return begun == 1 && name.len > 1;
}
