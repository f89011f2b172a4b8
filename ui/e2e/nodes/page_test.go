//go:build unix

package nodes

import (
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"coffer/ui/e2e/rig"
	"coffer/ui/termtest"
)

// The step "real" of .ci/run gives the path.
var castProgram = flag.String("cast", "", "with -anvil, follow docs/operator.md with this cast, a path")

// TestThePageOfTheOperator has a shell at a terminal read all commands of docs/operator.md, from the first to the last,
// and answers what the program asks. Only what leaves before a payment has ended ends with another exit code than 0.
func TestThePageOfTheOperator(t *testing.T) {
	needsAnvil(t)
	if *castProgram == "" {
		t.Skip("no -cast PATH is given; .ci/run real gives one")
	}
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "operator.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, env := rig.Home(t)
	for name, program := range map[string]string{"coffer": rig.Program(), "anvil": *anvilProgram,
		"cast": *castProgram} {
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	ports := map[string]string{}
	port := func(of string) string {
		if ports[of] == "" {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			_, ports[of], _ = net.SplitHostPort(l.Addr().String())
		}
		return ports[of]
	}
	script := "set -m\ntrap 'echo \"FAILED $BASH_COMMAND\"' ERR\ntrap 'kill -9 $(jobs -p)' EXIT\n"
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		block := regexp.MustCompile(`\b(862\d|8443)\b`).ReplaceAllStringFunc(m[1], port)
		script += block
		for _, m := range regexp.MustCompile(`(?m)(\d{4,5}) .* &$`).FindAllStringSubmatch(block, -1) {
			script += "until (: < /dev/tcp/127.0.0.1/" + m[1] + ") 2> /dev/null; do sleep 0.1; done\n"
		}
	}
	file := filepath.Join(dir, "evening.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", file)
	cmd.Dir, cmd.Env = dir, append(env, "PATH="+dir+":"+os.Getenv("PATH"))
	term, err := termtest.Start(cmd, 200, 48)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	said := func() string { return strings.ReplaceAll(ansi.Strip(string(term.Raw())), "\r", "") }
	answers := []struct{ question, answer string }{
		{`[Pp]assphrase[^\n]*: $|The same once more[^\n]*: $`, rig.Passphrase},
		{`API key for profile [^\n]*: $`, `(?m)^key +(coffer_\S+)$`},
		{`Type the fingerprint: $`, `(?m)^ +((?:[0-9a-f]{4} ){7}[0-9a-f]{4})$`},
		{`of this key to the profile\?[^\n]*: $`, "yes"},
		{`Type refund to [^\n]*: $`, "refund"},
	}
	answered := 0
	for end := time.Now().Add(5 * rig.Limit); ; {
		err := term.WaitExit(50 * time.Millisecond)
		if err == nil {
			break
		}
		if !errors.Is(err, termtest.ErrTimeout) || time.Now().After(end) {
			t.Fatalf("%v\n%s", err, said())
		}
		text := said()
		for _, a := range answers {
			if !regexp.MustCompile(a.question).MatchString(text[min(answered, len(text)):]) {
				continue
			}
			answer := a.answer
			if strings.HasPrefix(answer, "(?") {
				raw, _ := os.ReadFile(filepath.Join(dir, "serve.log"))
				all := regexp.MustCompile(answer).FindAllStringSubmatch(text+string(raw), -1)
				if all == nil {
					t.Fatalf("nothing printed %s\n%s", answer, text)
				}
				answer = all[len(all)-1][1]
			}
			answered = len(text)
			if err := term.Type(answer + "\r"); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	text := said()
	for _, m := range regexp.MustCompile(`(?m)^FAILED (.*)$`).FindAllStringSubmatch(text, -1) {
		if !strings.HasSuffix(m[1], "--wait 5s") {
			t.Errorf("this fails: %s", m[1])
		}
	}
	for what, times := range map[string]int{"everything that is needed is there": 1, "service: COMPLETED": 2,
		"  refunded ": 1} {
		if strings.Count(text, what) < times {
			t.Errorf("it does not say %q", what)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}
