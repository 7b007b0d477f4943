/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/place.h"

#include "broker/core/floor/entry.h"
#include "broker/core/floor/floor.h"

#define ENTRY_ROW(id, name, guards, about) {name, about, guards},
const struct entry floor_entries[ENTRY_N] = {ENTRY_LIST(ENTRY_ROW)};

#define PLACE(path, entry, flags)                                                              \
	{                                                                                      \
		path, sizeof(path) - 1, ENTRY_##entry, flags                                   \
	}

const struct place floor_places[] = {
	PLACE(".aws", CLOUD, 0),
	PLACE(".azure", CLOUD, 0),
	PLACE(".authinfo", NETRC, PLACE_EXACT | PLACE_PREFIX),
	PLACE(".approvald", APPROVALD, 0),
	PLACE(".boto", CLOUD, PLACE_EXACT),
	PLACE(".bashrc", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".bash_profile", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".bash_login", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".bash_logout", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".bash_aliases", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".bashrc.d", STARTUP, PLACE_HOME),
	PLACE(".config/gcloud", CLOUD, 0),
	PLACE(".config/gh", CLOUD, 0),
	PLACE(".config/hub", CLOUD, 0),
	PLACE(".config/glab-cli", CLOUD, 0),
	PLACE(".config/doctl", CLOUD, 0),
	PLACE(".config/hcloud", CLOUD, 0),
	PLACE(".config/op", CLOUD, 0),
	PLACE(".config/rclone", CLOUD, 0),
	PLACE(".config/sops", CLOUD, 0),
	PLACE(".config/google-chrome", BROWSER, PLACE_PREFIX),
	PLACE(".config/chromium", BROWSER, PLACE_PREFIX),
	PLACE(".config/bravesoftware", BROWSER, 0),
	PLACE(".config/microsoft-edge", BROWSER, PLACE_PREFIX),
	PLACE(".config/vivaldi", BROWSER, PLACE_PREFIX),
	PLACE(".config/opera", BROWSER, PLACE_PREFIX),
	PLACE(".config/mozilla", BROWSER, 0),
	PLACE(".config/git", GIT_CONFIG, PLACE_HOME),
	PLACE(".cshrc", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".config/fish", STARTUP, PLACE_HOME),
	PLACE(".config/environment.d", STARTUP, PLACE_HOME),
	PLACE(".config/plasma-workspace", STARTUP, PLACE_HOME),
	PLACE(".config/systemd", UNITS, PLACE_HOME),
	PLACE(".config/autostart", AUTOSTART, PLACE_HOME | PLACE_PREFIX),
	PLACE(".claude", AGENT, 0),
	PLACE(".codex", AGENT, 0),
	PLACE(".config/opencode", AGENT, PLACE_HOME),
	PLACE(".claude.json", AGENT, PLACE_EXACT),
	PLACE(".config/approvald", APPROVALD, PLACE_HOME),
	PLACE(".docker/config.json", DOCKER, PLACE_EXACT),
	PLACE(".docker", DOCKER, PLACE_HOME),
	PLACE(".dockercfg", DOCKER, PLACE_EXACT),
	PLACE(".dockerconfigjson", DOCKER, PLACE_EXACT),
	PLACE(".gnupg", GNUPG, 0),
	PLACE(".gnome2/keyrings", KEYRING, 0),
	PLACE(".git/hooks", GIT_HOOKS, 0),
	PLACE(".git/config", GIT_CONFIG, PLACE_EXACT),
	PLACE(".git/config.worktree", GIT_CONFIG, PLACE_EXACT),
	PLACE(".git/commondir", GIT_CONFIG, PLACE_EXACT),
	PLACE(".git/modules/*/hooks", GIT_HOOKS, PLACE_WILD),
	PLACE(".git/modules/*/config", GIT_CONFIG, PLACE_EXACT | PLACE_WILD),
	PLACE(".git/modules/*/commondir", GIT_CONFIG, PLACE_EXACT | PLACE_WILD),
	PLACE(".git/worktrees/*/config", GIT_CONFIG, PLACE_EXACT | PLACE_PREFIX | PLACE_WILD),
	PLACE(".git/worktrees/*/commondir", GIT_CONFIG, PLACE_EXACT | PLACE_WILD),
	PLACE(".git", GIT_CONFIG, PLACE_EXACT),
	PLACE(".gitconfig", GIT_CONFIG, PLACE_HOME | PLACE_EXACT),
	PLACE(".gemini", AGENT, 0),
	PLACE(".kube", CLUSTER, 0),
	PLACE(".kde/share/apps/kwallet", KEYRING, 0),
	PLACE(".kshrc", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".kde/autostart", AUTOSTART, PLACE_HOME),
	PLACE(".librewolf", BROWSER, 0),
	PLACE(".local/share/keyrings", KEYRING, 0),
	PLACE(".local/share/kwalletd", KEYRING, 0),
	PLACE(".login", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".logout", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".local/share/systemd", UNITS, PLACE_HOME),
	PLACE(".local/state/approvald", APPROVALD, PLACE_HOME),
	PLACE(".mozilla", BROWSER, 0),
	PLACE(".mkshrc", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".mcp.json", AGENT, PLACE_EXACT),
	PLACE(".netrc", NETRC, PLACE_EXACT),
	PLACE(".npmrc", NPM, PLACE_EXACT),
	PLACE(".oci", CLOUD, 0),
	PLACE(".opencode", AGENT, 0),
	PLACE(".password-store", GNUPG, 0),
	PLACE(".pgpass", PGPASS, PLACE_EXACT),
	PLACE(".pg_service.conf", PGPASS, PLACE_EXACT),
	PLACE(".pypirc", PYPI, PLACE_EXACT),
	PLACE(".profile", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".pam_environment", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".ssh", SSH, 0),
	PLACE(".s3cfg", CLOUD, PLACE_EXACT),
	PLACE(".terraformrc", CLOUD, PLACE_EXACT),
	PLACE(".thunderbird", BROWSER, 0),
	PLACE(".tcshrc", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".vault-token", CLOUD, PLACE_EXACT),
	PLACE(".var/app/org.mozilla.", BROWSER, PLACE_PREFIX),
	PLACE(".var/app/com.google.chrome", BROWSER, PLACE_PREFIX),
	PLACE(".var/app/org.chromium.", BROWSER, PLACE_PREFIX),
	PLACE(".var/app/com.brave.browser", BROWSER, PLACE_PREFIX),
	PLACE(".xinitrc", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".xprofile", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".xsession", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".xsessionrc", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".yarnrc", NPM, PLACE_HOME | PLACE_EXACT),
	PLACE(".yarnrc.yml", NPM, PLACE_HOME | PLACE_EXACT),
	PLACE(".zshrc", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".zshenv", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".zprofile", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".zlogin", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE(".zlogout", STARTUP, PLACE_HOME | PLACE_EXACT),
	PLACE("_netrc", NETRC, PLACE_EXACT),
	PLACE("containers/auth.json", DOCKER, PLACE_EXACT),
	PLACE("library/keychains", KEYRING, 0),
	PLACE("library/launchagents", AUTOSTART, PLACE_HOME),
	PLACE("opencode.json", AGENT, PLACE_EXACT),
	PLACE("opencode.jsonc", AGENT, PLACE_EXACT),
	PLACE("snap/firefox", BROWSER, PLACE_HOME),
	PLACE("snap/chromium", BROWSER, PLACE_HOME),
	PLACE("snap/brave", BROWSER, PLACE_HOME),
};

const struct place floor_roots[] = {
	PLACE("bin", SYSTEM, 0),
	PLACE("boot", SYSTEM, 0),
	PLACE("dev", DEVICE, 0),
	PLACE("etc/kubernetes", CLUSTER, 0),
	PLACE("etc/rancher", CLUSTER, 0),
	PLACE("etc/ssl/private", PRIVATE_KEY, 0),
	PLACE("etc/letsencrypt", PRIVATE_KEY, 0),
	PLACE("etc/wireguard", PRIVATE_KEY, 0),
	PLACE("etc/approvald", APPROVALD, 0),
	PLACE("etc/crontab", CRON, PLACE_EXACT),
	PLACE("etc/cron.", CRON, PLACE_PREFIX),
	PLACE("etc", SYSTEM, 0),
	PLACE("lib", SYSTEM, PLACE_PREFIX),
	PLACE("proc", SYSTEM, 0),
	PLACE("run/user/*/gnupg", GNUPG, PLACE_WILD),
	PLACE("run/secrets", CLUSTER, 0),
	PLACE("run/user/*/keyring", KEYRING, PLACE_WILD),
	PLACE("run/approvald", APPROVALD, 0),
	PLACE("run/user/*/approvald", APPROVALD, PLACE_WILD),
	PLACE("sbin", SYSTEM, 0),
	PLACE("sys", SYSTEM, 0),
	PLACE("tmp/approvald-", APPROVALD, PLACE_PREFIX),
	PLACE("usr", SYSTEM, 0),
	PLACE("var/lib/kubelet", CLUSTER, 0),
	PLACE("var/run/secrets", CLUSTER, 0),
	PLACE("var/lib/approvald", APPROVALD, 0),
	PLACE("var/spool/cron", CRON, 0),
	PLACE("var", SYSTEM, 0),
};

const size_t n_floor_places = sizeof(floor_places) / sizeof(floor_places[0]);
const size_t n_floor_roots = sizeof(floor_roots) / sizeof(floor_roots[0]);

const char place_second[256] = {
	['.'] = PLACE_ANY, ['_'] = 'n', ['c'] = 'o', ['l'] = 'i', ['o'] = 'p', ['s'] = 'n'};

const bool place_roots[256] = {['b'] = true,
	['d'] = true,
	['e'] = true,
	['l'] = true,
	['p'] = true,
	['r'] = true,
	['s'] = true,
	['t'] = true,
	['u'] = true,
	['v'] = true};

static unsigned two(const char *p)
{
	return (unsigned)(uint8_t)p[0] << 8 | (uint8_t)p[1];
}

void place_range(
	const struct place *table, size_t n, const char *text, size_t *from, size_t *to)
{
	const unsigned want = two(text);
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (two(table[middle].path) < want)
			low = middle + 1;
		else
			high = middle;
	}
	*from = low;
	while (low < n && two(table[low].path) == want)
		low++;
	*to = low;
}

/* Where the place's text ends in [at, end), or NULL. */
static const char *match_wild(const struct place *e, const char *at, const char *end)
{
	for (const char *want = e->path; *want; want++) {
		if (*want == '*') { /* one whole component */
			while (at < end && *at != '/')
				at++;
			continue;
		}
		if (at == end || *at != *want)
			return NULL;
		at++;
	}
	return at;
}

static const char *match_text(const struct place *e, const char *at, const char *end)
{
	if (e->path[2] != at[2]) /* there are zeros behind every path */
		return NULL;
	if (e->flags & PLACE_WILD)
		return match_wild(e, at, end);
	if ((size_t)(end - at) < e->len || memcmp(at, e->path, e->len) != 0)
		return NULL;
	return at + e->len;
}

size_t place_match(const struct place *e, const struct normal *path, unsigned i)
{
	const char *const start = path->text + path->start[i];
	const char *const end = path->text + path->len;
	const char *at = match_text(e, start, end);

	if (!at)
		return 0;
	if (e->flags & PLACE_PREFIX)
		while (at < end && *at != '/')
			at++;
	if (at < end && (*at != '/' || e->flags & PLACE_EXACT))
		return 0;
	return (size_t)(at - start);
}

static const char *const plain_devices[] = {
	"fd", "full", "null", "random", "shm", "std*", "tty", "urandom", "zero"};

const char *place_plain_device_at(unsigned i)
{
	return i < sizeof(plain_devices) / sizeof(plain_devices[0]) ? plain_devices[i] : NULL;
}

bool place_is_plain_device(struct bytes name)
{
	const char *plain;

	for (unsigned i = 0; (plain = place_plain_device_at(i)); i++) {
		const size_t len = strlen(plain);
		const bool open = plain[len - 1] == '*';

		if (open ? name.len >= len && memcmp(name.data, plain, len - 1) == 0
			 : bytes_is(name, plain))
			return true;
	}
	return false;
}
