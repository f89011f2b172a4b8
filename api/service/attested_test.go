package service_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/attest"
	"coffer/api/service/attest/attesthttp"
	"coffer/api/service/daemon"
	"coffer/api/service/remotenet"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// attester is `coffer attest` of somebody else, with a directory and a network file of his own.
type attester struct {
	t       *testing.T
	dir     string
	file    string
	listen  string
	address common.Address
	ca      string
	key     string
	stop    func()
}

// newAttester makes the key of an attester of a lab.
func newAttester(o *operated) *attester {
	o.t.Helper()
	t, _ := o.t.(*testing.T)
	dir := o.t.TempDir()
	a := &attester{t: t, dir: dir, file: filepath.Join(dir, networks.Name), listen: "127.0.0.1:0", stop: func() {}}
	a.copies(o)
	err := daemon.Attest(o.t.Context(), a.options(io.Discard))
	if !errors.Is(err, remotenet.ErrNoAttester) {
		o.t.Fatalf("an attester that the file does not name: %v", err)
	}
	a.address = common.HexToAddress(regexp.MustCompile(`writes (0x\w{40}) into`).FindStringSubmatch(err.Error())[1])
	a.key, _, err = daemon.Keys{Dir: filepath.Join(dir, "data")}.Add(o.t.Context(), access.KeySpec{Company: "lab",
		Project: "attest"})
	if err != nil {
		o.t.Fatal(err)
	}
	return a
}

// copies takes the operator's file as it is, with the nodes that are the attester's own here, too.
func (a *attester) copies(o *operated) {
	a.t.Helper()
	mine := o.net
	op := *o.net.Operator
	op.Elsewhere = nil
	mine.Operator = &op
	if err := os.WriteFile(a.file, mine.Encode(), 0o600); err != nil {
		a.t.Fatal(err)
	}
	if raw, err := os.ReadFile(o.descriptor()); err == nil {
		if err := os.WriteFile(filepath.Join(a.dir, networks.Descriptor), raw, 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
}

func (a *attester) options(out io.Writer) daemon.AttestOptions {
	return daemon.AttestOptions{Dir: filepath.Join(a.dir, "data"), Networks: a.file, Listen: a.listen, JSON: true,
		Work: 2, Out: out, Log: a.t.Output(), LogLevel: slog.LevelWarn,
		Passphrase: func(context.Context, string, bool) (secret.Secret, error) {
			return secret.New([]byte("correct horse battery")), nil
		}}
}

// starts runs it until the test or stop ends it, at one address for good.
func (a *attester) starts() {
	a.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	said, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := daemon.Attest(ctx, a.options(out))
		_ = out.Close()
		ended <- err
	}()
	a.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			a.t.Error(err)
		}
		a.stop = func() {}
	}
	a.t.Cleanup(func() { a.stop() })
	var line struct{ BaseURL, CAFile, APIKey, Attester string }
	got := make(chan error, 1)
	go func() { got <- json.NewDecoder(said).Decode(&line) }()
	select {
	case err := <-got:
		if err != nil || common.HexToAddress(line.Attester) != a.address {
			a.t.Fatalf("it says %+v, %v", line, err)
		}
	case err := <-ended:
		ended <- nil
		a.t.Fatalf("it ended: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	a.listen = strings.TrimPrefix(line.BaseURL, "https://")
	if a.ca = line.CAFile; line.APIKey != "" {
		a.t.Error("a key of the process beside a stored one")
	}
}

// hostile is an attester that answers what it should not, as mode says.
type hostile struct {
	key  *signers.Key
	web  *httptest.Server
	ca   string
	mode atomic.Value
	hits atomic.Int64
}

func newHostile(t *testing.T, info func() attesthttp.Info) *hostile {
	t.Helper()
	private, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{key: signers.Local(private)}
	h.mode.Store("gone")
	h.web = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mode := h.mode.Load().(string)
		if mode == "gone" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if r.URL.Path == attesthttp.InfoPath {
			_ = json.NewEncoder(w).Encode(info())
			return
		}
		h.hits.Add(1)
		raw, _ := io.ReadAll(r.Body)
		switch mode {
		case "nonsense":
			_, _ = io.WriteString(w, `{"signature":"0x`+strings.Repeat("11", 65)+`"}`)
		case "a stranger's":
			other, _ := crypto.GenerateKey()
			_, claim, _ := attesthttp.ParseRequest(raw)
			sig, _ := signers.Local(other).SignAttestation(r.Context(), claim.Attestation(info().Filler))
			_ = json.NewEncoder(w).Encode(map[string]any{"signature": hexutil.Bytes(sig)})
		case "hangs":
			<-r.Context().Done()
		case "floods":
			for range 1000 {
				_, _ = io.WriteString(w, strings.Repeat("{", 1000))
			}
		}
	}))
	t.Cleanup(h.web.Close)
	h.ca = filepath.Join(t.TempDir(), "hostile.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.web.Certificate().Raw})
	if err := os.WriteFile(h.ca, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// twoOfThree is an operator with one key of three, an honest attester elsewhere and a hostile one.
func twoOfThree(t *testing.T) (o *operated, good *attester, bad *hostile, own common.Address) {
	t.Helper()
	bad = newHostile(t, func() attesthttp.Info {
		return attesthttp.Info{Attester: bad.key.Address(), Network: o.id, Filler: o.filler, Escrow: o.escrow}
	})
	o = &operated{lab: newChains(t, "lab", nil, 10, 8453, 42161), db: store.NewMemory()}
	o.begins(func(mine common.Address) []common.Address {
		own, good = mine, newAttester(o)
		o.net.Operator.Threshold = 2
		return []common.Address{mine, good.address, bad.key.Address()}
	}, func() {
		good.copies(o)
		good.starts()
		o.net.Operator.Elsewhere = []networks.Elsewhere{
			{Attester: good.address, URL: "https://" + good.listen, CA: good.ca, Key: "${vault:good}"},
			{Attester: bad.key.Address(), URL: bad.web.URL, CA: bad.ca, Key: "${vault:bad}"}}
		o.save()
	}, func(from *service.Options) {
		from.Credential = func(_ context.Context, name, _ string) (string, error) {
			if name == "good" {
				return good.key, nil
			}
			return "a-key-for-the-bad-one", nil
		}
		from.PingEvery, from.Gone = 100*time.Millisecond, time.Minute
	})
	return o, good, bad, own
}

// TestTwoOfThreeReleaseWhateverTheThirdDoes: the operator's key and one attester elsewhere, over HTTPS, while the third
// is gone, signs nonsense, signs as a stranger, hangs and floods.
func TestTwoOfThreeReleaseWhateverTheThirdDoes(t *testing.T) {
	t.Parallel()
	o, good, bad, own := twoOfThree(t)
	s := o.open(nil)
	o.answering(s, own, good.address)
	for i, mode := range []string{"gone", "nonsense", "a stranger's", "hangs", "floods"} {
		bad.mode.Store(mode)
		c := o.member(s, api.AccountKernelV31, uint64(160+i))
		to := common.Address{0xbe, 0xef, 18: byte(i), 19: 9}
		doc, id, _ := c.call(o.pay(c, to, 30e6), "ob:usdc")
		c.done(c.waited(doc, id), api.RecordCall)
		o.settled(func() bool { return o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 })
		if got := o.has(8453, to); got != 30e6 {
			t.Errorf("%s: %d arrived", mode, got)
		}
	}
	if bad.hits.Load() == 0 {
		t.Error("the hostile attester was never asked")
	}
}

// TestWithoutEnoughAttestersNothingIsReleasedOrQuotedUntilTheyComeBack: k-1 signatures move nothing, what is
// under way stays in escrow, a new one has no route, calls that need no deposit go on; when the attester is back, both
// go on.
func TestWithoutEnoughAttestersNothingIsReleasedOrQuotedUntilTheyComeBack(t *testing.T) {
	t.Parallel()
	o, good, _, own := twoOfThree(t)
	logged, ahead := &heard{}, new(atomic.Int64)
	s := o.open(func(from *service.Options) {
		from.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		from.Log = slog.New(slog.NewTextHandler(io.MultiWriter(logged, t.Output()), nil))
		from.StatusEvery = 200 * time.Millisecond
	})
	o.answering(s, own, good.address)
	c := o.member(s, api.AccountKernelV31, 190)
	to := common.Address{0xbe, 0xef, 19: 77}
	doc, id, _ := c.call(o.pay(c, to, 30e6), "ob:usdc")
	good.stop()
	c.done(c.waited(doc, id), api.RecordCall)
	ahead.Store(int64(time.Minute))
	o.answering(s, own)
	later := o.member(s, api.AccountKernelV31, 191)
	err := later.noQuote(o.pay(later, to, 30e6))
	if err.Name != api.ErrNoRoute || !strings.Contains(err.Message, "1 of 3 attesters have answered") ||
		!strings.Contains(err.Message, "signatures of 2") {
		t.Errorf("a quote without attesters: %v", err)
	}
	if o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 {
		t.Error("it was released without the second signature")
	}
	logged.wait(t, "code=ATTESTERS_FEW")
	status, errStatus := s.Status(t.Context())
	if errStatus != nil || status.Attesters.Threshold != 2 || len(status.Attesters.Members) != 3 {
		t.Fatalf("%+v, %v", status, errStatus)
	}
	good.starts()
	o.settled(func() bool { return o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 })
	o.answering(s, own, good.address)
	logged.wait(t, "over=true")
	doc, id, _ = later.call(o.pay(later, to, 30e6), "ob:usdc")
	later.done(later.waited(doc, id), api.RecordCall)
	o.settled(func() bool { return o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 })
}

// answering waits until exactly these attesters count.
func (o *operated) answering(s *service.Service, want ...common.Address) {
	o.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		st, err := s.Status(o.t.Context())
		if err != nil {
			o.t.Fatal(err)
		}
		n, all := 0, true
		for _, m := range st.Attesters.Members {
			if m.Answers {
				n++
			}
			for _, w := range want {
				all = all && (m.Address != w || m.Answers)
			}
		}
		if all && n == len(want) {
			return
		}
		if time.Now().After(end) {
			o.t.Fatalf("%+v answer, want %v", st.Attesters.Members, want)
		}
	}
}

// TestAnAttesterElsewhereAnswersOnlyItsOperatorAndOnlyWhatItFound: without the key 401, of another network or unfilled
// no signature, too large no reading; and its key file is of this network.
func TestAnAttesterElsewhereAnswersOnlyItsOperatorAndOnlyWhatItFound(t *testing.T) {
	t.Parallel()
	o, good, _, _ := twoOfThree(t)
	roots := good.roots()
	ask := func(key, network string) *attesthttp.Remote {
		return attesthttp.NewRemote(attesthttp.Options{Attester: good.address, URL: "https://" + good.listen,
			RootCAs: roots, Key: secret.New([]byte(key)), Network: network, Filler: o.filler, Escrow: o.escrow})
	}
	claim := attest.Claim{QuoteID: common.Hash{1}, Depositor: common.Address{2}, Fill: common.Hash{3}.Hex()}
	claim.Escrow.ChainID, claim.Escrow.Escrow, claim.Terms.TargetChain = 10, o.escrow, 8453
	if err := ask(good.key, o.id).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := ask(good.key, o.id).Attest(t.Context(), claim); !errors.Is(err, attest.ErrNotYet) {
		t.Errorf("what never was: %v", err)
	}
	if _, err := ask(good.key, "0xaa").Attest(t.Context(), claim); !errors.Is(err, attest.ErrNotFilled) {
		t.Errorf("of another network: %v", err)
	}
	wrong := claim
	wrong.Escrow.Escrow = common.Address{9}
	if _, err := ask(good.key, o.id).Attest(t.Context(), wrong); !errors.Is(err, attest.ErrNotFilled) {
		t.Errorf("of another escrow: %v", err)
	}
	for _, key := range []string{"", "wrong"} {
		if _, err := ask(key, o.id).Attest(t.Context(), claim); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("with the key %q: %v", key, err)
		}
	}
	if err := attesthttp.NewRemote(attesthttp.Options{Attester: good.address, URL: "https://" + good.listen,
		Key: secret.New([]byte(good.key)), Network: o.id}).Ping(t.Context()); err == nil {
		t.Error("a certificate of a stranger was taken")
	}
	other := attesthttp.NewRemote(attesthttp.Options{Attester: common.Address{7}, URL: "https://" + good.listen,
		RootCAs: roots, Key: secret.New([]byte(good.key)), Network: o.id, Filler: o.filler, Escrow: o.escrow})
	if err := other.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), good.address.Hex()) {
		t.Errorf("it was taken for another one: %v", err)
	}
}

// roots are the certificates of an attester.
func (a *attester) roots() *x509.CertPool {
	a.t.Helper()
	raw, err := os.ReadFile(a.ca)
	if err != nil {
		a.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(raw)
	return pool
}

// heard is what a log said.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (r *heard) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *heard) wait(t *testing.T, what string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r.mu.Lock()
		said := strings.Contains(r.text.String(), what)
		r.mu.Unlock()
		if said {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the log never says %s", what)
		}
	}
}

// noQuote is why a call is not prepared.
func (c *client) noQuote(body string) *api.Error {
	c.t.Helper()
	status, raw := c.send("POST", c.preparePath(), body)
	if status == http.StatusOK {
		c.t.Fatal("it was quoted")
	}
	var refused *api.Error
	if err := api.ParseError(status, raw); !errors.As(err, &refused) {
		c.t.Fatal(err)
	}
	return refused
}
