package cli_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coffer/api/network"
	"coffer/config/contacts"
	"coffer/ui/cli"
	"coffer/wallet/journal"
)

const completedNetwork = "0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// home is a user with a configuration of two profiles and a journal in one of them.
func home(t *testing.T) (env []string, ids []string) {
	t.Helper()
	dir := t.TempDir()
	config := "version = 1\ndefault = \"team\"\n[profiles.team]\nkind = \"lab\"\nbase_url = " +
		"\"https://wallet.example:8443/api\"\nvault = \"file\"\nnetwork_id = \"" + completedNetwork + "\"\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := contacts.Change(t.Context(), filepath.Join(dir, "contacts.json"), func(contacts.Book) (contacts.Book,
		error) {
		return contacts.Book{{Name: "Anna", Address: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	env = []string{"COFFER_CONFIG=" + filepath.Join(dir, "config.toml"), "COFFER_DATA=" + filepath.Join(dir, "kept")}
	return env, keep(t, filepath.Join(dir, "kept", "state", "team"), completedNetwork)
}

func quoteOf(digits string) string { return "0x" + strings.Repeat(digits, 32) }

// keep writes a journal with two operations, the second with a quote, and returns their ids.
func keep(t *testing.T, dir, networkID string) (ids []string) {
	t.Helper()
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	j, err := journal.Open(dir, journal.Options{Network: networkID, Clock: func() time.Time { return now },
		Random: rand.NewChaCha8([32]byte{7})})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	for range 2 {
		id, err := j.Begin([]byte(`{}`), [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := j.Append(ids[1], journal.Quoted, journal.Entry{QuoteID: quoteOf("5c")}); err != nil {
		t.Fatal(err)
	}
	return ids
}

// completed is the program's answer to a shell: the words, and the directive.
func completed(t *testing.T, env []string, args ...string) []string {
	t.Helper()
	var out bytes.Buffer
	p := whole(&out, env...)
	p.Err = io.Discard
	if err := p.Run(t.Context(), append([]string{cobra.ShellCompRequestCmd}, args...)); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	var words []string
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words = append(words, word)
	}
	return words
}

// Every value that a shell can be offered, by the command line so far. The last word is the one being typed.
func TestWhatAShellIsOffered(t *testing.T) {
	env, ids := home(t)
	for name, c := range map[string]struct {
		args []string
		want []string // words that are there
		last string   // directive
	}{
		"profiles": {[]string{"balances", "--profile", ""}, []string{"demo", "team"}, ":4"},
		"chains":   {[]string{"call", "--chain", "ba"}, []string{"base", "eip155:8453"}, ":36"},
		"chains with Solana": {[]string{"transfer", "--chain", ""},
			[]string{"base", "sol", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"}, ":36"},
		"chains in a list":   {[]string{"history", "--chain", "base,"}, []string{"base,op", "base,eip155:10"}, ":36"},
		"chains of accounts": {[]string{"accounts", "show", "--chain", ""}, []string{"all", "eip155:8453"}, ":36"},
		"chains of limits":   {[]string{"plan", "--limit-chains", "op,"}, []string{"op,base"}, ":36"},
		"chains of a key":    {[]string{"serve", "keys", "add", "--chain", ""}, []string{"eip155:8453"}, ":36"},
		"assets":             {[]string{"swap", "--asset", ""}, []string{"usdc", "eth", "ob:usdc", "ob:eth"}, ":36"},
		"assets on a chain":  {[]string{"swap", "--for", "usdc@"}, []string{"usdc@base", "usdc@op"}, ":36"},
		"assets that fund":   {[]string{"call", "--fund-with", "usdc@"}, []string{"usdc@base"}, ":36"},
		"assets of history":  {[]string{"history", "--asset", "ob:usdc,"}, []string{"ob:usdc,eth"}, ":36"},
		"assets of a key":    {[]string{"serve", "keys", "add", "--asset", ""}, []string{"ob:usdc"}, ":36"},
		"tokens on a chain":  {[]string{"call", "--chain", "base", "--to", ""}, []string{"usdc", "weth"}, ":36"},
		"contacts":           {[]string{"transfer", "--to", ""}, []string{"Anna"}, ":4"},
		"contacts of a call": {[]string{"call", "--chain", "base", "--to", ""}, []string{"usdc", "Anna"}, ":36"},
		"operations":         {[]string{"status", ""}, ids, ":36"},
		"quotes":             {[]string{"status", "0x"}, []string{quoteOf("5c")}, ":36"},
		"payments":           {[]string{"refund", ""}, nil, ":36"},
		"one operation":      {[]string{"status", ids[0], ""}, nil, ":4"},
		"plan files":         {[]string{"apply", ""}, []string{"toml", "json"}, ":8"},
		"lists of payouts":   {[]string{"pay", ""}, []string{"csv"}, ":8"},
		"where they are":     {[]string{"pay", "--chain", "ba"}, []string{"base"}, ":36"},
		"intent files":       {[]string{"call", ""}, []string{"json"}, ":8"},
		"answers":            {[]string{"verify", "a.json", ""}, []string{"json"}, ":8"},
		"types":              {[]string{"history", "--type", ""}, []string{"CALL", "SWAP", "TRANSFER"}, ":36"},
		"statuses":           {[]string{"history", "--status", "COMPLETED,"}, []string{"COMPLETED,REFUNDED"}, ":36"},
		"account kinds": {[]string{"accounts", "add", "--type", ""},
			[]string{"role-based", "kernel-v3.1-ecdsa", "kernel-v3.3-ecdsa", "solana"}, ":36"},
		"key kinds":     {[]string{"keys", "new", "--kind", ""}, []string{"evm", "solana"}, ":36"},
		"network kinds": {[]string{"profile", "add", "--kind", ""}, []string{"embedded", "lab", "real"}, ":36"},
		"vaults": {[]string{"profile", "add", "--vault", ""},
			[]string{"keyring", "keyring-only", "file", "memory"}, ":36"},
		"faults": {[]string{"serve", "--fault", ""}, []string{"no-route", "slow-fill="}, ":6"},
		"permissions": {[]string{"serve", "keys", "add", "--permission", "read,"},
			[]string{"read,quote", "read,execute"}, ":36"},
		"shells":       {[]string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}, ":4"},
		"directories":  {[]string{"--record", ""}, nil, ":16"},
		"a passphrase": {[]string{"call", "--passphrase-fd", ""}, nil, ":4"},
		"an address":   {[]string{"keys", "remove", ""}, nil, ":4"},
		"nothing":      {[]string{"doctor", ""}, nil, ":4"},
	} {
		t.Run(name, func(t *testing.T) {
			got := completed(t, env, c.args...)
			if got[len(got)-1] != c.last {
				t.Errorf("directive %s", got[len(got)-1])
			}
			for _, w := range c.want {
				if !slices.Contains(got, w) {
					t.Errorf("%q is not offered: %q", w, got)
				}
			}
			if len(c.want) == 0 && len(got) > 1 {
				t.Errorf("offered: %q", got)
			}
		})
	}
}

// The list of all completions, for review as a whole.
func TestGoldenCompletions(t *testing.T) {
	env, _ := home(t)
	var b strings.Builder
	for _, args := range [][]string{
		{""}, {"--profile", ""}, {"call", "--chain", ""}, {"swap", "--asset", ""}, {"swap", "--for", "usdc@"},
		{"history", "--status", ""}, {"history", "--type", ""},
		{"accounts", "add", "--type", ""}, {"serve", "--fault", ""}, {"status", ""}, {"config", ""}, {"completion", ""},
		{"keys", ""}, {"accounts", "exit", ""},
	} {
		b.WriteString("coffer " + strings.Join(args, " ") + "\n")
		for _, w := range completed(t, env, args...) {
			b.WriteString("  " + w + "\n")
		}
	}
	golden.RequireEqual(t, []byte(b.String()))
}

// The journal of an embedded profile is found through the network that its service stored, without the service.
func TestOperationsOfAnEmbeddedProfileAreOffered(t *testing.T) {
	dir := t.TempDir()
	n, err := network.Descriptor{Version: 1, Kind: network.Embedded, Chains: []string{"eip155:1"},
		Genesis: map[string]string{}, Formulas: []network.Formula{}}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := n.Encode()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data", "demo")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "network.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	ids := keep(t, filepath.Join(dir, "state", "demo"), n.ID)
	if got := completed(t, []string{"COFFER_DATA=" + dir}, "status", ""); !slices.Contains(got, ids[0]) {
		t.Errorf("%q", got)
	}
}

// A shell asks at every key. Its answers come from files that the program only reads, however broken they are.
func TestCompletionsChangeNothingAndSurviveAnything(t *testing.T) {
	env, _ := home(t)
	dir := filepath.Dir(strings.TrimPrefix(env[0], "COFFER_CONFIG="))
	before := tree(t, dir)
	for _, args := range [][]string{{"status", ""}, {"--profile", ""}, {"status", "--profile", "nobody", ""},
		{"status", "--profile", "demo", ""}, {"swap", "--for", ""}} {
		completed(t, env, args...)
	}
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
	for _, broken := range []string{"version = 7", "no toml at all", ""} {
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := completed(t, env, "status", ""); len(got) != 1 {
			t.Errorf("%q: %q", broken, got)
		}
	}
	if got := completed(t, []string{"COFFER_DATA=relative"}, "--profile", ""); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// tree lists the files below a directory with their content.
func tree(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var b []byte
			b, err = os.ReadFile(path)
			out = append(out, path+" "+string(b))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A flag whose value is a file or a directory must not be left without completions, and one with another value must
// not offer files.
func TestEveryFlagOfAFileOffersFiles(t *testing.T) {
	env, _ := home(t)
	for _, c := range cli.Documented(whole(io.Discard).Root()) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return
			}
			got := completed(t, env, append(strings.Fields(c.CommandPath())[1:], "--"+f.Name, "")...)
			value, says := pflag.UnquoteUsage(f)
			isFile := strings.EqualFold(value, "file") || strings.EqualFold(value, "directory") ||
				strings.EqualFold(value, "dir") || strings.HasPrefix(says, "file with") ||
				strings.Contains(says, "to this FILE")
			offers := slices.Contains([]string{":0", ":8", ":16"}, got[len(got)-1])
			if isFile != offers && !slices.Contains([]string{"--network-file", "--ca-file", "--policy-file", "--policy",
				"--authorized-keys", "--host-key"}, "--"+f.Name) {
				t.Errorf("%s --%s: file %t, offered %q", c.CommandPath(), f.Name, isFile, got)
			}
		})
	}
}

// runs writes a script to a file and has a shell check it, if that shell is installed.
func runs(t *testing.T, shell string, args ...string) (string, bool) {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Logf("%s is not installed: its script is compared, not parsed", shell)
		return "", false
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %q: %v\n%s", shell, args, err, out)
	}
	return string(out), true
}

func TestTheScriptOfEveryShellIsParsedByIt(t *testing.T) {
	for shell, look := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"},
		"powershell": nil} {
		t.Run(shell, func(t *testing.T) {
			script := says(t, nil, "completion", shell)
			if !strings.Contains(script, "coffer") || len(script) < 1000 {
				t.Fatalf("no script: %q", script)
			}
			path := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			if shell == "powershell" {
				runs(t, "pwsh", "-NoProfile", "-Command",
					"$e=$null; [void][System.Management.Automation.Language.Parser]::ParseFile('"+path+
						"',[ref]$null,[ref]$e); if ($e) { $e; exit 1 }")
				return
			}
			runs(t, shell, append(look, path)...)
		})
	}
	if err := whole(io.Discard).Run(t.Context(), []string{"completion", "tcsh"}); cli.Code(err) != cli.ExitUsage {
		t.Error(err)
	}
}

// In bash an @ ends a word, as for the names of hosts. The completion after usdc@ has to be the missing part, or the
// line would read usdc@usdc@base.
func TestBashCompletesBehindAnAt(t *testing.T) {
	script := filepath.Join(t.TempDir(), "coffer.bash")
	if err := os.WriteFile(script, []byte(says(t, nil, "completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	// What the package bash-completion gives the script, for one line; and a program that answers as coffer does.
	const test = `
_init_completion() { cur=usdc@b prev=--for words=(coffer swap --for usdc@b) cword=3; [ "$2" = "=:@" ]; }
coffer() { [ "$4" = usdc@b ] && printf 'usdc@base\tUSD Coin on Base\nusdc@op\tUSD Coin on Optimism\n:36\n'; }
COMP_TYPE=9 COMP_WORDBREAKS=$' \t\n"@><=;|&(:'
compopt() { :; }
. "$1" && __start_coffer && printf '%s\n' "${COMPREPLY[@]}"`
	if out, there := runs(t, "bash", "-c", test, "bash", script); there && strings.TrimSpace(out) != "base" {
		t.Errorf("%q", out)
	}
}
