package liar

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"coffer/api/caip"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Batch says what to run: a house, and sessions of so many steps in it. Sums is the built program .ci/liar/sums.
type Batch struct {
	Dir      string
	Seed     uint64
	Sessions int
	Steps    int
	Sums     string
	Trace    func(session uint64, line string) // may be nil
}

// Session is what came of one session. Problems begin with the code of the claim that they break.
type Session struct {
	Seed     uint64
	Embedded bool
	Kind     string
	Signed   int
	Told     map[string]int // lies by name
	Problems []string

	names      []string
	confirmed  map[string]*agreed
	watched    map[string]*track
	operations []journal.Operation
	had        Sums // when the session began
	forgotten  map[string]bool
	policy     verify.Policy
	began      int64
	ended      int64
}

// Run runs a batch. The error says why it could not run; what the wallet did wrong is in the sessions.
func Run(ctx context.Context, b Batch) ([]*Session, error) {
	kind := network.Lab
	if b.Seed%4 == 3 {
		kind = network.Embedded
	}
	dir, err := os.MkdirTemp(b.Dir, "house")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	h, err := OpenHouse(dir, b.Seed, kind)
	if err != nil {
		return nil, err
	}
	var out []*Session
	earlier := &Past{}
	for i := range b.Sessions {
		s, err := h.session(ctx, b, dir, b.Seed*1_000_000+uint64(i), earlier)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("session %d of batch %d: %w", i, b.Seed, err), h.Close())
		}
		out = append(out, s)
	}
	if err := h.Close(); err != nil {
		return nil, err
	}
	return out, judge(ctx, b.Sums, filepath.Join(dir, DatabaseFile), out)
}

// session runs one person against one attacker.
func (h *House) session(ctx context.Context, b Batch, dir string, seed uint64, earlier *Past) (*Session, error) {
	embedded := h.Network.Kind == network.Embedded
	a := NewAttacker(h, h.honest, h.key, seed, embedded, earlier)
	p, err := h.person(dir, seed, a)
	if err != nil {
		return nil, err
	}
	s := &Session{
		Seed: seed, Embedded: embedded, Kind: p.Kind, Told: a.Told,
		names: p.user.Names(), confirmed: p.Confirmed, watched: p.watched, policy: p.policy,
		began: h.Clock.Now().Unix(),
	}
	if p.holdings, err = h.funds(ctx, p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	s.had, s.forgotten = Sums{}, map[string]bool{}
	for _, x := range p.holdings {
		s.had.add(x.asset.String(), x.amount)
	}
	if b.Trace != nil {
		p.Trace = func(line string) { b.Trace(seed, line) }
		a.Trace = p.Trace
	}
	for range b.Steps {
		p.Step(ctx)
	}
	s.ended = h.Clock.Now().Unix()
	s.Signed, s.Problems, s.operations = p.Signed, p.Problems, p.journal.Operations()
	if err := p.Close(); err != nil {
		return nil, err
	}
	h.settle(ctx)
	if !embedded {
		a.CashOut()
		if a.dice.chance(50) {
			h.Clock.Advance(11 * minute)
			a.CashOut()
		}
	}
	return s, nil
}

// funds gives the person test funds, honestly, and reads what came.
func (h *House) funds(ctx context.Context, p *Person) ([]holding, error) {
	query := url.Values{"aggregatedAssetId": {"ob:usdc"}, "account": {strings.Join(p.user.Asked(), ",")}}
	page := client.EmbeddedBaseURL + "/v3/balances/aggregated-balance?" + query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("x-api-key", h.key)
	res, err := h.honest.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("no test funds: %d", res.StatusCode)
	}
	var out []holding
	for _, agg := range p.catalog.Aggregates() {
		for _, e := range agg.Entities {
			v, err := h.balance(p, e.Asset)
			if err != nil {
				return nil, err
			}
			if v.Sign() > 0 && (!p.v1 || !e.Asset.Chain.IsSolana()) {
				out = append(out, holding{e.Asset, agg.ID.String(), v})
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the faucet gave nothing")
	}
	return out, nil
}

func (h *House) balance(p *Person, asset caip.Asset) (*big.Int, error) {
	switch {
	case !asset.Chain.IsSolana() && p.user.HasEVM():
		return h.chains.Balance(context.Background(), p.user.Address, asset)
	case asset.Chain.IsSolana() && p.user.HasSolana():
		return h.chains.SolanaBalance(context.Background(), p.user.Wallet, asset)
	}
	return new(big.Int), nil
}

// Chains is what .ci/liar/sums prints.
type Chains struct {
	Left, Have map[string]Sums
	Ran        []Ran
	Odd        []string
}

// Ran is one operation on a chain.
type Ran struct {
	Chain, Hash, Sender, Nonce string
	Time                       uint64
	Success                    bool
}

// ReadChains has another program read the store of a service that was closed.
func ReadChains(ctx context.Context, program, database string, accounts []string) (c Chains, err error) {
	args := append([]string{database}, accounts...)
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // built by the test
	raw, err := cmd.Output()
	var said *exec.ExitError
	if errors.As(err, &said) {
		return c, fmt.Errorf("read the chains: %w: %s", err, said.Stderr)
	}
	if err != nil {
		return c, fmt.Errorf("read the chains: %w", err)
	}
	return c, json.Unmarshal(raw, &c)
}
