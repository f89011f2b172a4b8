package service_test

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/gastank"
	"coffer/api/service"
	"coffer/api/service/store"
)

var payee = common.HexToAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")

// balance is what an address has of the coin.
func (l *lab) balance(id uint64, at common.Address) *big.Int {
	l.t.Helper()
	var v hexutil.Big
	l.ask(id, &v, "eth_getBalance", at, "latest")
	return v.ToInt()
}

// withdraws plans and sends a withdrawal, and waits until it is in a block.
func withdraws(t *testing.T, w gastank.Withdrawals, to common.Address, v *big.Int) gastank.Withdrawal {
	t.Helper()
	p, err := w.Plan(t.Context(), 8453, to, v)
	if err == nil {
		p, err = w.Send(t.Context(), p)
	}
	if err == nil {
		p, err = w.Wait(t.Context(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ends waits until a withdrawal is over, and notes that it was told.
func ends(t *testing.T, w gastank.Withdrawals) gastank.Withdrawal {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		last, found, err := w.Last(8453)
		if err != nil || !found || time.Now().After(end) {
			t.Fatalf("%+v %v %v", last, found, err)
		}
		if last.State.Over() {
			if err := w.Told(last); err != nil {
				t.Fatal(err)
			}
			return last
		}
	}
}

func withdrawsNot(t *testing.T, err error, words string) {
	t.Helper()
	var no *gastank.RefusedError
	if !errors.As(err, &no) || !strings.Contains(no.Problem, words) {
		t.Errorf("%v, %q expected", err, words)
	}
}

// TestAGasTankGivesBackWhatItHas: an exact amount, then all less the fee.
func TestAGasTankGivesBackWhatItHas(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	s := open(t, l.options(store.NewMemory()))
	w, tank := s.Withdrawals(), s.Network().Pins.Operator
	_, err := w.Plan(t.Context(), 8453, payee, nil)
	withdrawsNot(t, err, "has 0 ETH on Base")
	l.fuel(s)
	for words, ask := range map[string]struct {
		to common.Address
		v  *big.Int
	}{
		"gas tank itself":                    {tank, nil},
		"belongs to nobody":                  {common.Address{}, nil},
		"more than 0":                        {payee, new(big.Int)},
		"this takes up to":                   {payee, big.NewInt(1e18)},
		"refuses them":                       {l.usdc[8453], big.NewInt(1)},
		"nothing of it can be sent":          {payee, new(big.Int).Lsh(big.NewInt(1), 80)},
		"the gas tank has 1 ETH on Base, an": {payee, big.NewInt(1e18)},
	} {
		_, err := w.Plan(t.Context(), 8453, ask.to, ask.v)
		withdrawsNot(t, err, words)
	}
	if _, err := w.Plan(t.Context(), 5, payee, nil); err == nil {
		t.Error("a chain that is not there")
	}
	before := l.balance(8453, payee)
	got := func() *big.Int { return new(big.Int).Sub(l.balance(8453, payee), before) }
	exact := big.NewInt(123_456_789_012_345_678)
	withdraws(t, w, payee, exact)
	last := ends(t, w)
	if last.State != gastank.Done || last.Amount.Cmp(exact) != 0 || got().Cmp(exact) != 0 || last.To != payee ||
		last.Block == 0 || last.Tx == (common.Hash{}) {
		t.Errorf("%+v, %d arrived", last, got())
	}
	has := l.balance(8453, tank)
	all := withdraws(t, w, payee, nil)
	last = ends(t, w)
	left := l.balance(8453, tank)
	if last.State != gastank.Done || new(big.Int).Sub(got(), exact).Cmp(all.Amount) != 0 ||
		new(big.Int).Sub(has, all.Amount).Cmp(left) < 0 || left.Cmp(big.NewInt(1e15)) > 0 {
		t.Errorf("%+v: %d of %d, %d are left", last, all.Amount, has, left)
	}
	day, err := w.Since(time.Now().Add(-24 * time.Hour))
	if err != nil || len(day) != 2 || day[0].Amount.Cmp(exact) != 0 || day[1].Amount.Cmp(all.Amount) != 0 ||
		day[0].ChainID != 8453 {
		t.Errorf("of the day: %+v, %v", day, err)
	}
	if op := l.balance(42161, tank); op.Cmp(big.NewInt(1e18)) != 0 {
		t.Errorf("%d on another chain", op)
	}
}

// losing drops what a method is asked while on is set.
func losing(method string, on *atomic.Bool) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || on.Load() && bytes.Contains(body, []byte(method)) {
				http.Error(w, "lost", http.StatusBadGateway)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			h.ServeHTTP(w, r)
		})
	}
}

// TestAWithdrawalWhoseAnswerIsLostMovesCoinsOnce: the process ends after the commit and before the wire. The next one
// sends the same bytes, tells what became of them, and sends nothing else before.
func TestAWithdrawalWhoseAnswerIsLostMovesCoinsOnce(t *testing.T) {
	t.Parallel()
	var mute atomic.Bool
	l, db := newLab(t, losing("eth_sendRawTransaction", &mute)), store.NewMemory()
	o := l.options(db)
	o.Seed = []byte("the seed of own nodes: 32 bytes.")
	s, err := service.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	l.fuel(s)
	w, v := s.Withdrawals(), big.NewInt(1e17)
	mute.Store(true)
	p, err := w.Plan(t.Context(), 8453, payee, v)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := w.Send(t.Context(), p)
	if err != nil || sent.State != gastank.Sent || sent.Tx == (common.Hash{}) {
		t.Fatalf("%+v %v", sent, err)
	}
	if _, err := w.Plan(t.Context(), 8453, payee, v); err == nil {
		t.Error("a second one is planned while the first is under way")
	}
	_, err = w.Send(t.Context(), p)
	withdrawsNot(t, err, "under way there: withdrawal")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := l.balance(8453, payee)
	if before.Sign() != 0 {
		t.Fatalf("%d arrived before the wire", before)
	}
	mute.Store(false)
	s = open(t, o)
	w = s.Withdrawals()
	last, found, err := w.Last(8453)
	if err != nil || !found || last.Told || !last.Same(p) || last.ID != sent.ID {
		t.Fatalf("%+v %v %v", last, found, err)
	}
	for end := time.Now().Add(time.Minute); !last.State.Over() && time.Now().Before(end); {
		last, err = w.Wait(t.Context(), last)
		if err != nil {
			t.Fatal(err)
		}
	}
	if last.State != gastank.Done || last.Tx != sent.Tx {
		t.Errorf("%+v, sent was %+v", last, sent)
	}
	if p, err = w.Plan(t.Context(), 8453, payee, big.NewInt(1)); err != nil {
		t.Fatal(err)
	}
	_, err = w.Send(t.Context(), p)
	withdrawsNot(t, err, "was not told")
	if got := new(big.Int).Sub(l.balance(8453, payee), before); got.Cmp(v) != 0 {
		t.Errorf("%d arrived", got)
	}
	ends(t, w)
	withdraws(t, w, payee, big.NewInt(1))
	if op := l.balance(8453, s.Network().Pins.Operator); op.Cmp(big.NewInt(8e17)) < 0 {
		t.Errorf("the tank has %d", op)
	}
}

// TestAGasTankSaysForHowMuchItPaid: operations of the last 24 hours count, and those of others do not.
func TestAGasTankSaysForHowMuchItPaid(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	s := l.fuel(open(t, l.options(store.NewMemory())))
	c := newClient(t, s, api.AccountKernelV31, 61)
	l.stock(8453, c.user.Address, 100_000_000)
	signed, id, _ := c.call(l.batch(c, payee, 1_000_000), "")
	c.done(c.waited(signed, id), api.RecordCall)
	for account, want := range map[string]int{c.user.Address.Hex(): 1, payee.Hex(): 0} {
		if r, err := s.Tank(t.Context(), account); err != nil || len(r.Paid) != 1 || r.Paid[0].Operations != want ||
			r.Most != 100 || len(r.Chains) != 2 || *r.Chains[0].Has == "0" || *r.Chains[0].Operations == 0 {
			t.Errorf("%s: %+v, %v", account, r, err)
		}
	}
}

// TestOnlyOwnNodesHaveAGasTank.
func TestOnlyOwnNodesHaveAGasTank(t *testing.T) {
	t.Parallel()
	if w := open(t, service.Options{Store: store.NewMemory(), APIKey: key}).Withdrawals(); w != nil {
		t.Errorf("an embedded network has %+v", w)
	}
}
