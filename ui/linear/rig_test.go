package linear

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
)

var update = flag.Bool("update", false, "write golden transcripts")

// keyboard is an input in which lines may wait.
type keyboard struct {
	lines chan string
	rest  string
}

func newKeyboard() *keyboard { return &keyboard{lines: make(chan string, 20_000)} }

func (k *keyboard) Read(p []byte) (int, error) {
	if k.rest == "" {
		l, ok := <-k.lines
		if !ok {
			return 0, io.EOF
		}
		k.rest = l
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// paper takes the output.
type paper struct {
	mu  sync.Mutex
	all bytes.Buffer
	new bytes.Buffer
	err error
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err
	}
	p.new.Write(b)
	return p.all.Write(b)
}

func (p *paper) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.new.String()
	p.new.Reset()
	return s
}

func (p *paper) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.String()
}

// rig is a conversation inside a bubble of synctest: waiting costs no time.
type rig struct {
	stranger bool // the payee is in no address book
	t        *testing.T
	opts     Options
	op       *fakeOp
	keys     *keyboard
	paper    *paper
	script   strings.Builder // the output and the typed lines
	done     chan error
	answers  []string
	stop     context.CancelFunc
	ended    bool
	err      error

	unfinished []Operation
	live       []journal.Outstanding
	voided     []string
	pages      []api.HistoryPage
	held       api.AggregatedBalance
	started    []intent.Intent
}

func utc() time.Time { return time.Now().UTC() }

func newRig(t *testing.T) *rig {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, keys: newKeyboard(), paper: &paper{}, done: make(chan error, 1), op: newFake(utc()),
		held: someBalances()}
	r.opts = Options{
		Context: Context{
			Profile: "demo", BaseURL: "inside this program", Catalog: cat, Clock: utc, Accounts: someAccounts(),
			Network: network.Descriptor{ID: hash(1), Kind: network.Embedded},
			Names:   func(address string) string { return map[string]string{payee: "alice"}[address] },
		},
		In: r.keys, Out: r.paper,
		Deps: Deps{
			Start: func(_ context.Context, in intent.Intent) (Operation, error) {
				r.started = append(r.started, in)
				r.op.begin(in)
				return r.op, nil
			},
			Known:       func(string) bool { return !r.stranger },
			Unfinished:  func() []Operation { return r.unfinished },
			Outstanding: func(time.Time) []journal.Outstanding { return r.live },
			Void: func(hash, typed string) error {
				if !strings.HasSuffix(strings.ToLower(account), strings.ToLower(typed)) || len(typed) != 4 {
					return errTyped
				}
				r.voided = append(r.voided, hash)
				return nil
			},
			Balances: func(context.Context) (api.AggregatedBalance, error) { return r.held, nil },
			History:  r.history,
			Book:     []compose.Contact{{Name: "alice", Address: payee}},
		},
	}
	return r
}

var errCursor = errors.New("no such place in the list")

// history serves pages; the continuation is the number of the next page in tally marks.
func (r *rig) history(_ context.Context, _ int, continuation string) (api.HistoryPage, error) {
	if i := len(continuation); i < len(r.pages) {
		return r.pages[i], nil
	}
	return api.HistoryPage{}, errCursor
}

// begins starts the conversation.
func (r *rig) begins() *rig {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.done <- Run(ctx, r.opts) }()
	r.hears()
	return r
}

// hears waits until the program waits, and records its output.
func (r *rig) hears() string {
	synctest.Wait()
	said := r.paper.take()
	r.script.WriteString(said)
	select {
	case r.err = <-r.done:
		r.ended = true
	default:
	}
	return said
}

// types waits a second, as a person does, and types lines in order, each a second after the answer to the previous one.
func (r *rig) types(lines ...string) string {
	r.t.Helper()
	said := ""
	for _, l := range lines {
		if r.ended {
			r.t.Fatalf("nobody asks any more before %q:\n%s", l, r.script.String())
		}
		time.Sleep(time.Second)
		r.answers = append(r.answers, l)
		r.script.WriteString("> " + strings.ReplaceAll(l, "\x1b", "^[") + "\n")
		r.keys.lines <- l + "\n"
		synctest.Wait()
		time.Sleep(heels) // the pause after an answer that confirms
		said = r.hears()
	}
	return said
}

// atOnce puts lines into the input without a pause.
func (r *rig) atOnce(lines ...string) string {
	for _, l := range lines {
		r.script.WriteString(">> " + l + "\n")
		r.keys.lines <- l + "\n"
	}
	synctest.Wait()
	time.Sleep(2 * heels)
	return r.hears()
}

// ends closes the input and returns what Run returned.
func (r *rig) ends() error {
	r.t.Helper()
	if !r.ended {
		close(r.keys.lines)
		r.hears()
	} else {
		close(r.keys.lines)
	}
	synctest.Wait()
	if !r.ended {
		r.t.Fatalf("it goes on after the end of the input:\n%s", r.script.String())
	}
	r.stop()
	r.plain()
	return r.err
}

// plain requires that the output is lines of text within the width, except an address in one piece.
func (r *rig) plain() {
	r.t.Helper()
	width := r.opts.Width
	if width == 0 {
		width = Width
	}
	text := r.paper.text()
	if text != "" && !strings.HasSuffix(text, "\n") {
		r.t.Error("the last line has no end")
	}
	for l := range strings.SplitSeq(text, "\n") {
		if !utf8.ValidString(l) || strings.ContainsFunc(l,
			func(c rune) bool { return c != '\uFFFD' && !unicode.IsGraphic(c) }) {
			r.t.Errorf("not plain: %q", l)
		}
		if present.Width(l) > max(width, leastWidth) && strings.Contains(l, " ") {
			r.t.Errorf("%d cells: %q", present.Width(l), l)
		}
	}
}

// golden compares the transcript with its accepted form.
func (r *rig) golden(name string) {
	r.t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(r.script.String()), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if got := r.script.String(); string(want) != got {
		r.t.Errorf("%s differs:\n%s", name, got)
	}
}

func (r *rig) wants(said string, texts ...string) {
	r.t.Helper()
	one := flat(said)
	for _, x := range texts {
		if !strings.Contains(one, x) {
			r.t.Errorf("%q is not said:\n%s", x, said)
		}
	}
}

func number(n int64) *big.Int { return big.NewInt(n) }

func addressOf(text string) common.Address { return common.HexToAddress(text) }

// flat is the output on one line.
func flat(said string) string { return strings.Join(strings.Fields(said), " ") }
