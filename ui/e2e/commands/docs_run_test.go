//go:build unix

package commands

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/ui/e2e/rig"
	"coffer/ui/termtest"
)

// follower is a person who follows a page from its beginning to its end, at a terminal, with a home that was empty.
type follower struct {
	*testing.T
	dir      string // where commands are typed: a clone of the repository, as far as pages name its files
	env      []string
	said     strings.Builder    // what the commands of this page printed, oldest first
	service  *termtest.Terminal // the `coffer serve` that still runs
	blocks   []string           // of all pages
	declines bool               // offers
	ports    map[string]string  // a port of the page to a free one
}

// mentions are the commands that pages only name.
const mentions = "mentions"

// TestDocumentsRun types every command line of the documents, page by page in the order of reading, at a terminal in a
// home that was empty, and demands that it ends as the page says. Then it types the commands that pages only name. The
// scenes have what a page takes for granted and what cannot be run; one that nothing needs fails the test.
func TestDocumentsRun(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the pages are for a shell such as bash: ", err)
	}
	lines, blocks := documented(t)
	w := &walk{commands: rig.Commands(t), blocks: blocks, ran: map[string]bool{}, used: map[string]bool{}}
	pages, named := map[string][]typed{}, map[string]typed{}
	for _, d := range lines {
		if path := w.path(d.line); d.named && "coffer"+path == d.line {
			named[path] = d
		} else {
			pages[d.page] = append(pages[d.page], d)
		}
	}
	t.Run("page", func(t *testing.T) {
		longest := slices.SortedFunc(maps.Keys(pages), func(a, b string) int { return len(pages[b]) - len(pages[a]) })
		for _, page := range longest {
			t.Run(page, func(t *testing.T) {
				t.Parallel()
				w.follows(t, pages[page])
			})
		}
	})
	var rest []typed
	for path, d := range named {
		if !w.ran[path] && len(w.commands[strings.TrimSpace(path)].Below) == 0 {
			d.page = mentions
			rest = append(rest, d)
		}
	}
	slices.SortFunc(rest, func(a, b typed) int { return strings.Compare(a.line, b.line) })
	t.Run(mentions, func(t *testing.T) { w.follows(t, rest) })
	if t.Failed() || w.followed <= len(pages) { // or -run chose some pages
		return
	}
	for page, all := range scenes {
		for _, s := range all {
			if !w.used[page+s.line+s.under] {
				t.Errorf("nothing needs the scene %q of page %q", s.line, page)
			}
		}
	}
	if len(w.ran) < 50 || w.lines < 130 {
		t.Errorf("only %d lines with %d commands ran", w.lines, len(w.ran))
	}
}

// walk is what the pages have in common. It is safe for concurrent use.
type walk struct {
	commands map[string]rig.Help
	mu       sync.Mutex
	blocks   []string
	ran      map[string]bool // commands, as path returns them
	used     map[string]bool // scenes, each as its page and line

	lines, followed int // lines that were run, and pages
}

// path is the command of a line with a blank in front of each word, such as " keys new".
func (w *walk) path(line string) (path string) {
	_, line, _ = strings.Cut(line+" ", "coffer ")
	for word := range strings.FieldsSeq(line) {
		if _, ok := w.commands[strings.TrimSpace(path+" "+word)]; !ok {
			break
		}
		path += " " + word
	}
	return path
}

// scene finds what a line needs: the first scene of its page, else of all pages, that is for it.
func (w *walk) scene(d typed) scene {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, page := range []string{d.page, ""} {
		for _, s := range scenes[page] {
			if strings.HasPrefix(d.line, s.line) && (s.under == "" || s.under == d.heading) {
				w.used[page+s.line+s.under] = true
				return s
			}
		}
	}
	return scene{}
}

// note notes a line that was run.
func (w *walk) note(d typed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran[w.path(d.line)] = true
	w.lines++
}

// follows types the lines of a page.
func (w *walk) follows(t *testing.T, lines []typed) {
	t.Helper()
	f := &follower{T: t, blocks: w.blocks, ports: map[string]string{}}
	for _, d := range lines {
		s := w.scene(d)
		if s.not != "" {
			continue
		}
		if _, err := exec.LookPath(s.needs); err != nil && s.needs != "" {
			t.Logf("%s was not run: %v", d.line, err)
			continue
		}
		dir, env := f.dir, f.env
		if f.dir == "" || s.fresh || s.alone {
			f.newHome()
		}
		f.declines = s.no
		if s.stop {
			f.stopsService()
		}
		if s.file != "" {
			f.writes(s.file, s.block)
		}
		for line := range strings.Lines(s.before) {
			if line = strings.TrimSpace(line); line != "" {
				f.runs(line)
			}
		}
		for _, what := range s.members {
			f.cuts(what)
		}
		line := regexp.MustCompile(`\b(8443|8545|2222|9464)\b`).ReplaceAllStringFunc(f.fills(d.line, s.words), f.port)
		if path := w.path(d.line); path == " serve" || path == " devnet" {
			f.serves(line, path)
		} else {
			f.runs(line)
		}
		w.note(d)
		if s.alone {
			f.dir, f.env = dir, env
		}
	}
	f.stopsService()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followed++
}

// writes makes a file of the code block, of any page, that begins with a text.
func (f *follower) writes(name, begins string) {
	f.Helper()
	for _, block := range f.blocks {
		if strings.HasPrefix(block, begins) {
			if err := os.WriteFile(filepath.Join(f.dir, name), []byte(block), 0o600); err != nil {
				f.Fatal(err)
			}
			return
		}
	}
	f.Fatalf("no page has a block that begins with %q", begins)
}

// cuts makes a file of a member of a JSON file: "prepared of looked.json" makes prepared.json.
func (f *follower) cuts(what string) {
	f.Helper()
	name, file, _ := strings.Cut(what, " of ")
	raw, err := os.ReadFile(filepath.Join(f.dir, file))
	var members map[string]jsontext.Value
	if err == nil {
		err = json.Unmarshal(raw, &members)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(f.dir, name+".json"), members[name], 0o600)
	}
	if err != nil || members[name] == nil {
		f.Fatalf("%s: %v", what, err)
	}
}

// fills puts what the words of a page stand for in their place: a text, or the first group of a pattern in what was
// printed last.
func (f *follower) fills(line string, words []string) string {
	f.Helper()
	for pair := range slices.Chunk(words, 2) {
		if !strings.Contains(line, pair[0]) {
			f.Fatalf("%s: there is no %s", line, pair[0])
		}
		text := pair[1]
		if strings.HasPrefix(text, "(?") {
			text = f.printed(text)
		}
		line = strings.ReplaceAll(line, pair[0], text)
	}
	return line
}

// newHome gives the follower an empty home; shell scripts find the one before in OLD.
func (f *follower) newHome() {
	f.stopsService()
	home, env := rig.Home(f)
	old := filepath.Dir(f.dir)
	f.dir = filepath.Join(home, "clone")
	for _, dir := range []string{"clone", "bin"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"bin/coffer": rig.Program(), "clone/coffer": rig.Program(), "clone/ui": filepath.Join(rig.Root(), "ui"),
	} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			f.Fatal(err)
		}
	}
	for name, script := range shims {
		if err := os.WriteFile(filepath.Join(home, "bin", name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	f.env = append(env, "PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"), "OLD="+old)
}

// types types a line of shell at a terminal.
func (f *follower) types(line string) *termtest.Terminal {
	f.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Env, cmd.Dir = f.env, f.dir
	term, err := termtest.Start(cmd, 160, 48)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(term.Close)
	return term
}

// runs types a line of shell, answers what it asks, and demands that it ends well.
func (f *follower) runs(line string) {
	f.Helper()
	began := time.Now()
	term := f.types(line)
	code, err := f.attends(term)
	text := written(term)
	f.said.WriteString(text)
	if strings.Contains(text, "New passphrase of profile mine") { // what follows need not work so hard for each command
		rig.EasesPassphrase(f.T, filepath.Dir(f.dir), "mine", rig.Passphrase)
	}
	f.Logf("%4.1f s  %s", time.Since(began).Seconds(), line)
	if err != nil || code != 0 {
		f.Fatalf("%s: exit code %d, %v\n%s", line, code, err, tail(text))
	}
}

// serves starts a service or a devnet, which goes on until the end of the page or until the page stops it.
func (f *follower) serves(line, command string) {
	f.Helper()
	f.stopsService()
	ports := map[string]string{
		" serve": " --listen 127.0.0.1:" + f.port("8443"), " devnet": " --listen 127.0.0.1:0",
	}
	if !strings.Contains(line, "--listen") {
		line = strings.Replace(line, command, command+ports[command], 1)
	}
	f.service = f.types("exec " + line)
	serving := regexp.MustCompile(`(?m)^serving |^account, funded |^{"baseUrl"`)
	if code, err := f.attendsUntil(f.service, serving.MatchString); err != nil || code >= 0 {
		f.Fatalf("%s: exit code %d, %v\n%s", line, code, err, written(f.service))
	}
	if err := f.service.Still(300*time.Millisecond, rig.Limit); err != nil {
		f.Fatal(err)
	}
	f.said.WriteString(written(f.service))
}

// stopsService stops the service as a person does, with ctrl+c.
func (f *follower) stopsService() {
	f.Helper()
	if f.service == nil {
		return
	}
	if err := errors.Join(f.service.Type("\x03"), f.service.WaitExit(rig.Limit)); err != nil {
		f.Errorf("stopping the service: %v\n%s", err, written(f.service))
	}
	f.service = nil
}

// port is the free port that a page's port stands for.
func (f *follower) port(page string) string {
	if f.ports[page] == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			f.Fatal(err)
		}
		_, f.ports[page], err = net.SplitHostPort(l.Addr().String())
		if err = errors.Join(err, l.Close()); err != nil {
			f.Fatal(err)
		}
	}
	return f.ports[page]
}

// tail is the end of a long text.
func tail(text string) string { return text[max(0, len(text)-4000):] }

func written(term *termtest.Terminal) string { return plain(term.Raw()) }

func plain(raw []byte) string { return strings.ReplaceAll(ansi.Strip(string(raw)), "\r", "") }

// questions are what the program asks, by the end of the last line that it wrote, and what the follower answers.
var questions = []struct {
	asked  *regexp.Regexp
	answer func(f *follower, found []string) string
}{
	{regexp.MustCompile(`[Pp]assphrase[^\n]*: $|The same once more[^\n]*: $`), says(rig.Passphrase)},
	{regexp.MustCompile(`API key for profile [^\n]*: $`), last(`(?m)^key +(coffer_\S+)$`)},
	{regexp.MustCompile(`Type the fingerprint: $`), last(`(?m)^ +((?:[0-9a-f]{4} ){7}[0-9a-f]{4})$`)},
	{regexp.MustCompile(`of this key to the profile\?[^\n]*$`), func(f *follower, _ []string) string {
		return map[bool]string{false: "yes", true: "no"}[f.declines]
	}},
	{regexp.MustCompile(`type yes: $`), says("yes")},
	{regexp.MustCompile(`Key that pays for gas \(not shown\): $`), last(`(?m)^0x\S+ +(0x[0-9a-f]{64})$`)},
	{regexp.MustCompile(`Type (deploy) to go on: $`), found},
	{regexp.MustCompile(`type the amount ([0-9.]+)[^\n]*: $`), found},
	{regexp.MustCompile(`last four characters of the account \S*(\S{4}) to go on: $`), found},
	{regexp.MustCompile(`ype characters (\d+) to [^\n]*: $`), func(f *follower, found []string) string {
		from, _ := strconv.Atoi(found[1])
		return strings.TrimPrefix(rig.Payee(f), "0x")[from-1:][:4]
	}},
	{regexp.MustCompile(`Key or mnemonic \(not shown\): $`), says(rig.AdminKeyText)},
	{regexp.MustCompile(`Type a number from 1 to \d+: [^\n]*\n$`), says("quit")},
}

func says(text string) func(*follower, []string) string {
	return func(*follower, []string) string { return text }
}

// last answers with what was printed last.
func last(pattern string) func(*follower, []string) string {
	return func(f *follower, _ []string) string { return f.printed(pattern) }
}

func found(_ *follower, found []string) string { return found[1] }

// printed is the first group of a pattern in what was printed last.
func (f *follower) printed(pattern string) string {
	f.Helper()
	all := regexp.MustCompile(pattern).FindAllStringSubmatch(f.said.String(), -1)
	if all == nil {
		f.Fatalf("nothing printed %s:\n%s", pattern, tail(f.said.String()))
	}
	return all[len(all)-1][1]
}

// attends answers questions and leaves dashboards, until the program ends.
func (f *follower) attends(term *termtest.Terminal) (code int, err error) {
	return f.attendsUntil(term, func(string) bool { return false })
}

// dashboard is what a dashboard shows once it can be left.
var dashboard = regexp.MustCompile(`(?s)Balances.*Activity.*(?:\$\d|Lab).*\? (?:help|more)`)

// attendsUntil goes on until what was written is ready, or until the program ends with a code from 0.
func (f *follower) attendsUntil(term *termtest.Terminal, ready func(text string) bool) (code int, err error) {
	f.Helper()
	answered, opened, left := 0, false, false // bytes when the last answer was given; the keys of a dashboard; it
	for deadline := time.Now().Add(rig.Limit); time.Now().Before(deadline); {
		switch err := term.WaitExit(50 * time.Millisecond); {
		case errors.Is(err, termtest.ErrTimeout):
		case err == nil:
			return 0, nil
		default:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return exit.ExitCode(), nil
			}
			return -1, err
		}
		raw := term.Raw()
		text := plain(raw)
		if ready(text) {
			return -1, nil
		}
		answer := ""
		asked := plain(raw[answered:])
		for _, q := range questions {
			if m := q.asked.FindStringSubmatch(asked); m != nil {
				answer = q.answer(f, m) + "\r"
				break
			}
		}
		switch screen := term.Screen(); {
		case term.AltScreen() && !opened && strings.Contains(screen, "Passphrase of profile"):
			answer, opened = rig.Passphrase+"\r", true
		case term.AltScreen() && !left && dashboard.MatchString(screen):
			answer, left = "q", true
		case answer == "" || term.AltScreen():
			continue
		}
		if strings.Contains(text, "type ") {
			rig.Pause() // what comes at once was not read
		}
		answered = len(raw)
		if err := term.Type(answer); err != nil {
			return -1, err
		}
	}
	return -1, fmt.Errorf("it neither ends nor asks what a follower of this page knows")
}
