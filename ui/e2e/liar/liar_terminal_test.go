//go:build unix

package liar

import (
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/.ci/liar"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/ui/e2e/rig"
)

// Sessions of the real program at a terminal, in short and whole, and the keys of each.
const (
	liarTerminals      = 2
	liarTerminalsWhole = 20
	liarKeys           = 26
)

// TestTerminalNoLieTakesMoreThanTheScreensSay lets somebody with random but sensible keys use the real program against
// `coffer serve`, with the attacker as the TLS server in between. The attacker cashes out when the service has ended;
// then another program reads from the store what left, and it is at most what the screens said can leave.
func TestTerminalNoLieTakesMoreThanTheScreensSay(t *testing.T) {
	t.Parallel()
	sums, sessions := sumsProgram(t), liarTerminals
	if rig.Whole() {
		sessions = liarTerminalsWhole
	}
	var mu sync.Mutex
	signed, run := 0, 0
	t.Run("sessions", func(t *testing.T) {
		for i := range sessions {
			seed := 9_000_001 + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				s := newLiarSession(t, seed)
				for range liarKeys {
					s.step()
				}
				left := s.close(sums)
				mu.Lock()
				defer mu.Unlock()
				run++
				if len(s.confirmed) > 0 {
					signed++
				}
				t.Logf("seed %d: %d reviews confirmed, %v lies, left %v, shown %v", seed, len(s.confirmed),
					s.attacker.Told, left, s.shown())
				for symbol, v := range left {
					if most := s.shown()[symbol]; most == nil || v.Cmp(most) > 0 {
						t.Errorf("seed %d: %s %s left the account, the screens said that %v can", seed, v, symbol, most)
					}
				}
			})
		}
	})
	if signed*10 < run*3 {
		t.Errorf("only %d of %d sessions confirmed a review", signed, run)
	}
}

// liarSession is one person at a terminal and one attacker.
type liarSession struct {
	*testing.T
	dice     *rand.Rand
	attacker *liar.Attacker
	p        rig.Person
	env      []string
	data     string // directory of the service's store
	network  network.Descriptor
	between  *rig.Between

	mu        sync.Mutex
	confirmed []symbols // by operation: what the screens said can leave
	call      symbols   // of review 1, for the review 2 that follows; nil for a swap or a transfer
}

func newLiarSession(t *testing.T, seed uint64) *liarSession {
	t.Helper()
	s := &liarSession{T: t, dice: rand.New(rand.NewPCG(seed, 1)), data: t.TempDir()}
	env, b := rig.Team(t, "--data", s.data, "--lifetime", "60s")
	s.env, s.between = env, b
	raw, err := os.ReadFile(b.At.NetworkFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &s.network); err != nil {
		t.Fatal(err)
	}
	s.attacker = liar.NewAttacker(nil, elsewhere{b}, b.At.APIKey, seed, false, nil)
	b.Server.Config.Handler = http.HandlerFunc(s.serve) // nothing was asked yet
	s.p = rig.Opens(t, env, 120, 60)
	return s
}

// elsewhere leads to the genuine service.
type elsewhere struct{ b *rig.Between }

// RoundTrip implements http.RoundTripper.
func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	base, err := url.Parse(e.b.At.BaseURL)
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = base.Scheme, base.Host, "", ""
	out.Header.Del("Accept-Encoding")
	return e.b.Client.Transport.RoundTrip(out)
}

// serve answers as the attacker likes.
func (s *liarSession) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	res, err := s.attacker.RoundTrip(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

var (
	reCountdown = regexp.MustCompile(`(?:closes|expires) in (\d+:\d\d)`)
	reToType    = regexp.MustCompile(rig.ToType)
)

// step presses what somebody might who sees this screen.
func (s *liarSession) step() {
	s.Helper()
	_ = s.p.Term.Still(150*time.Millisecond, 5*time.Second)
	switch screen := s.p.Term.Screen(); {
	case strings.Contains(screen, "Review 1 of 2") && strings.Contains(screen, "y sign"):
		s.review1(screen)
	case strings.Contains(screen, "Review 2 of 2") && reToType.MatchString(screen):
		s.review2()
	case strings.Contains(screen, "r new quote"), strings.Contains(screen, "r prepare again"),
		strings.Contains(screen, "r try again"):
		s.types([]string{"r", "r", "\x1b"}[s.dice.IntN(3)])
	case strings.Contains(screen, "Refused"):
		s.types([]string{"\x1b", "r"}[s.dice.IntN(2)])
	case strings.Contains(screen, "›2 Build") && strings.Contains(screen, "fund with") && s.dice.IntN(3) > 0:
		s.types("r")
	case s.dice.IntN(8) == 0:
		s.restarts()
	case s.dice.IntN(3) == 0:
		s.leaves()
		s.command()
		s.p = rig.Opens(s.T, s.env, 120, 60)
	case s.dice.IntN(4) == 0:
		s.types([]string{"1", "3", "4", "r", "\x1b"}[s.dice.IntN(5)])
	default:
		s.types("2")
		_ = s.p.Term.WaitFor(5*time.Second, "Build")
		s.types("d")
		_ = s.p.Term.WaitUntil("the ready-made call", 5*time.Second,
			func(screen string) bool { return strings.Contains(screen, "needs") })
		s.types("r")
	}
}

func (s *liarSession) types(keys string) {
	s.Helper()
	s.p.Types(keys)
}

// settles gives a review the time that it wants before it takes a confirmation: its countdown moves twice.
func (s *liarSession) settles() {
	for range 2 {
		before := reCountdown.FindString(s.p.Term.Screen())
		_ = s.p.Term.WaitUntil("the countdown", 5*time.Second,
			func(screen string) bool { return reCountdown.FindString(screen) != before })
	}
}

// review1 reads and mostly signs.
func (s *liarSession) review1(screen string) {
	s.Helper()
	if s.dice.IntN(10) == 0 {
		s.types("\x1b")
		return
	}
	s.signs(screen)
	s.settles()
	s.types("y")
	_ = s.p.Term.WaitUntil("what comes of it", 10*time.Second,
		func(screen string) bool { return !strings.Contains(screen, "y sign") })
}

// review2 reads and mostly pays.
func (s *liarSession) review2() {
	s.Helper()
	s.settles()
	screen := s.p.Term.Screen()
	m := reToType.FindStringSubmatch(screen)
	if m == nil || s.dice.IntN(10) == 0 {
		s.types([]string{"r", "\x1b"}[s.dice.IntN(2)])
		return
	}
	s.pays(screen)
	s.types(m[1] + "\r")
	_ = s.p.Term.WaitUntil("what comes of it", 10*time.Second,
		func(screen string) bool { return !strings.Contains(screen, "press enter") })
}

// restarts ends the program, in order or not, and starts it again.
func (s *liarSession) restarts() {
	s.Helper()
	s.leaves()
	s.call = nil
	s.p = rig.Opens(s.T, s.env, 120, 60)
}

func (s *liarSession) leaves() {
	if s.dice.IntN(2) == 0 {
		_ = s.p.Term.Type("qq")
		if s.p.Term.WaitExit(5*time.Second) == nil {
			return
		}
	}
	_ = s.p.Term.Process().Kill()
	_ = s.p.Term.WaitExit(rig.Limit)
}

// close ends the program and the service, lets the attacker cash out, and returns what another program says has left
// the account, by symbol.
func (s *liarSession) close(sums string) symbols {
	s.Helper()
	s.leaves()
	_ = s.between.Service.Process.Signal(syscall.SIGTERM)
	_ = s.between.Service.Wait()
	database := filepath.Join(s.data, liar.DatabaseFile)
	for _, later := range []time.Duration{0, 11 * time.Minute} {
		if err := s.attacker.CashOutIn(database, time.Now().Add(later)); err != nil {
			s.Fatal(err)
		}
	}
	pins := s.network.Pins
	init := op.InitDataECDSA(pins.ECDSAValidator, crypto.PubkeyToAddress(rig.AdminKey(s.T).PublicKey))
	account := strings.ToLower(op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int)).Hex())
	chains, err := liar.ReadChains(s.Context(), sums, database, []string{account})
	if err != nil || len(chains.Odd) > 0 {
		s.Fatal(err, chains.Odd)
	}
	c, err := catalog.Load()
	if err != nil {
		s.Fatal(err)
	}
	out := symbols{}
	for text, v := range chains.Left[account] {
		a, err := caip.ParseAsset(text)
		e, known := c.Entity(a)
		if err != nil || !known {
			s.Fatalf("%s left the account: %v", text, err)
		}
		out.plus(e.Symbol, amount.Scale(v, e.Decimals, 18))
	}
	return out
}
