//go:build unix

package crash_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/api/service/crash/traffic"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
)

// checker opens what the service left and compares it with what the clients know.
type checker struct {
	doubled int                 // balances and nonces that are not what the completed quotes make them
	learned int                 // quotes of which the books were asked what only they know
	burned  map[uint64]*big.Int // base fees of each chain so far
	blocks  map[uint64]uint64   // next block to add
}

// checkHistory compares the history of everybody, page by page, with what the status endpoint said.
func (h *harness) checkHistory(ctx context.Context, s *served) error {
	want := map[string]map[string]string{}
	for _, q := range h.quotes {
		if q.status == "" {
			continue
		}
		who := q.member.Address.Hex()
		if want[who] == nil {
			want[who] = map[string]string{}
		}
		want[who][q.id] = q.status
	}
	for who, quotes := range want {
		for continuation, first := "", true; first || continuation != ""; first = false {
			page, err := s.client(0).History(ctx, who, continuation, quotestore.MaxPage)
			if err != nil {
				return fmt.Errorf("history of %s: %w", who, err)
			}
			for _, r := range page.Transactions {
				if status, known := quotes[r.QuoteID]; !known || status != r.Status {
					h.problem("the history of %s says %q of quote %s, the client was told %q", who, r.Status, r.QuoteID,
						status)
				}
				delete(quotes, r.QuoteID)
			}
			continuation = page.Continuation
		}
		for id, status := range quotes {
			h.problem("the history of %s has no quote %s, which is %s", who, id, status)
		}
	}
	return nil
}

// openStore opens the database that the service had: the file in its directory, or that of --store.
func (h *harness) openStore() (store.Store, error) {
	flags := strings.Fields(settings.serve)
	at := slices.Index(flags, "--store") + 1
	if at == 0 {
		return store.OpenBolt(filepath.Join(h.data(), "coffer.db"), store.BoltOptions{Holder: "crash test"})
	}
	a, err := pg.ParseAddress(flags[at])
	if err != nil {
		return nil, err
	}
	s, err := pg.Open(context.Background(), a, pg.Options{Holder: "crash test", Wait: patience})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// check opens the database in this process, as the service itself does, and compares books, balances, nonces, escrow
// and sums. The last check looks at every quote once more.
func (h *harness) check(last bool) (err error) {
	s, err := h.openStore()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	in, err := devnet.Open(s, devnet.Options{Clock: time.Now, Kind: network.Lab})
	if err != nil {
		return err
	}
	b, err := quotestore.Open(s, quotestore.Options{Clock: time.Now})
	if err != nil {
		return err
	}
	from := h.checker.learned
	if last {
		from = 0
	}
	if err := h.checkBooks(b, from); err != nil {
		return err
	}
	if err := h.checkBalances(in); err != nil {
		return err
	}
	for _, m := range h.people {
		if err := h.checkLanes(in, m); err != nil {
			return err
		}
	}
	if err := h.checkSums(in); err != nil {
		return err
	}
	if err := h.checkSolana(in); err != nil || !last {
		return err
	}
	h.checkFigures()
	return checkBlocks(in)
}

// checkFigures demands that settlement went on beside the transactions of others, and that there were such of each
// sort.
func (h *harness) checkFigures() {
	h.mu.Lock()
	sent := h.sent()
	h.mu.Unlock()
	across := 0
	for _, q := range h.quotes {
		if q.status == api.StatusCompleted && q.across {
			across++
		}
	}
	if across == 0 {
		h.problem("no quote of several chains was completed")
	}
	if len(sent) != 10 {
		h.problem("others sent %v", sent)
	}
}

// checkBlocks executes every block of every chain anew.
func checkBlocks(in *devnet.Installation) error {
	for id, c := range in.Chains {
		if _, err := c.(interface {
			Verify(context.Context) (uint64, error)
		}).Verify(context.Background()); err != nil {
			return fmt.Errorf("chain %d: %w", id, err)
		}
	}
	return nil
}

// checkBooks compares the record of every quote with what the client was told, and learns from it what a client cannot
// know: which deposits of a refunded quote had landed, and what exactly a swap delivered.
func (h *harness) checkBooks(b *quotestore.Book, from int) error {
	ctx := context.Background()
	open, err := b.Open(ctx)
	if err != nil {
		return err
	}
	for _, id := range open {
		h.problem("quote %s has not ended", id)
	}
	for i, t := range h.quotes[from:] {
		q, err := b.Quote(ctx, t.id)
		if errors.Is(err, quotestore.ErrUnknownQuote) && t.status == "" {
			continue
		}
		if err != nil {
			return err
		}
		if q.Status != t.status {
			h.problem("quote %s is %q in the books, the client was told %q", t.id, q.Status, t.status)
			continue
		}
		h.checkLegs(q)
		if from+i >= h.checker.learned {
			h.learn(t, q)
		}
	}
	h.checker.learned = len(h.quotes)
	return nil
}

// checkLegs checks that no deposit is left where an ended quote may not leave it.
func (h *harness) checkLegs(q *quotestore.Quote) {
	for _, l := range q.Legs {
		switch {
		case q.Status == "":
		case q.Status == api.StatusCompleted && l.State == quotestore.LegReleased:
		case q.Status == api.StatusRefunded && (l.State == quotestore.LegRefunded || l.State == quotestore.LegWaiting):
		case q.Status == api.StatusFailed && l.State == quotestore.LegWaiting:
		default:
			h.problem("quote %s is %s with a deposit on %s that is %q", q.ID, q.Status, l.Chain(), l.State)
		}
	}
}

// learn enters what only the books know.
func (h *harness) learn(t told, q *quotestore.Quote) {
	for _, l := range q.Legs {
		if l.State == quotestore.LegRefunded && l.ChainID != 0 {
			t.member.uses[traffic.Use{Chain: l.ChainID, Lane: op.LaneFunding}]++
		}
	}
	if g := t.gets; g != nil && len(q.Fills) == 1 {
		v := q.Fills[0].Delivers.Value
		if v.Cmp(g.Least) < 0 || v.Cmp(g.Top) > 0 {
			h.problem("quote %s delivered %s, promised %s to %s", t.id, v, g.Least, g.Top)
		}
		h.mu.Lock()
		h.move(traffic.Move{Account: g.Account, Asset: g.Asset, Amount: v})
		h.mu.Unlock()
	}
}

// checkBalances compares all balances with what completed quotes and transactions of others must have made of them.
func (h *harness) checkBalances(in *devnet.Installation) error {
	for account, assets := range h.balances {
		for asset, want := range assets {
			got, err := balance(in, account, asset)
			if err != nil {
				return err
			}
			if got.Cmp(want) != 0 {
				h.checker.doubled++
				h.problem("%s has %s of %s; completed quotes and what others sent make it %s", account, got, asset,
					want)
			}
		}
	}
	return nil
}

// checkLanes compares the nonces of one person with what completed quotes must have made of them.
func (h *harness) checkLanes(in *devnet.Installation, m *member) error {
	for _, chain := range in.ChainIDs {
		for _, lane := range []uint16{op.LanePrepared, op.LaneFunding} {
			key := op.Nonce{Validator: m.Validator(in.Pins), Key: lane}.Key192()
			v, err := in.AccountNonce(context.Background(), chain, m.Address, key)
			if err != nil {
				return err
			}
			n, err := op.ParseNonce(v)
			if err != nil {
				return err
			}
			if want := m.uses[traffic.Use{Chain: chain, Lane: lane}]; n.Sequence != want {
				h.checker.doubled++
				h.problem("lane %d of %s on eip155:%d is at %d; its quotes make it %d", lane, m.Address, chain,
					n.Sequence, want)
			}
		}
	}
	return nil
}

// balance is what the account of a Move holds.
func balance(in *devnet.Installation, account string, asset caip.Asset) (*big.Int, error) {
	if !asset.Chain.IsSolana() {
		return in.Balance(context.Background(), common.HexToAddress(account), asset)
	}
	key, err := caip.ParseSolanaKey(account)
	if err != nil {
		return nil, err
	}
	return in.SolanaBalance(context.Background(), solmsg.Key(key), asset)
}

// checkSums checks that the escrow is empty and that every asset adds up to what genesis made (coins: with the burned
// fees).
func (h *harness) checkSums(in *devnet.Installation) error {
	pins := in.Pins
	holders := []common.Address{
		in.Operator.Address(), in.Pins.Solver, in.Faucet.Address(),
		in.Treasury.Address(), pins.EntryPoint, {}, // the last is whom a block pays its tips to
	}
	all := map[common.Address]bool{}
	for _, p := range h.born {
		all[p.Address] = true
	}
	for account := range h.balances {
		if common.IsHexAddress(account) {
			all[common.HexToAddress(account)] = true
		}
	}
	holders = slices.AppendSeq(holders, maps.Keys(all))
	for _, agg := range in.Catalog.Aggregates() {
		for _, e := range agg.Entities {
			chain, evm := e.Asset.Chain.EVMID()
			if !evm {
				continue
			}
			held, err := in.Balance(context.Background(), pins.Escrow, e.Asset)
			if err != nil {
				return err
			}
			if held.Sign() != 0 {
				h.problem("the escrow holds %s of %s", held, e.Asset)
			}
			if err := h.checkSum(in, chain, e.Asset, e.Decimals, append(holders, pins.Escrow)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSolana checks the same of the Solana ledger, whose vault takes the part of the escrow.
func (h *harness) checkSolana(in *devnet.Installation) error {
	sums, err := in.Ledger.Sums()
	if err != nil {
		return err
	}
	vault, err := caip.ParseSolanaKey(in.Pins.SolanaVault)
	if err != nil {
		return err
	}
	for _, agg := range in.Catalog.Aggregates() {
		for _, e := range agg.Entities {
			if !e.Asset.Chain.IsSolana() {
				continue
			}
			held, err := in.SolanaSpendable(context.Background(), solmsg.Key(vault), e.Asset)
			if err != nil {
				return err
			}
			if held.Sign() != 0 {
				h.problem("the vault holds %s of %s", held, e.Asset)
			}
			exist := sums.Lamports // with the burned fees
			if mint, token := deployment.SolanaMint(e.Asset); token {
				exist = sums.Tokens[mint]
			}
			if want := supply(e.Decimals); want.Cmp(new(big.Int).SetUint64(exist)) != 0 {
				h.problem("%s: %d exist, genesis made %s", e.Asset, exist, want)
			}
		}
	}
	return nil
}

// wholeSupply is how many whole units of every asset genesis makes on each chain.
const wholeSupply = 1_000_000_000

func supply(decimals int) *big.Int {
	v := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return v.Mul(v, big.NewInt(wholeSupply))
}

func (h *harness) checkSum(in *devnet.Installation, chain uint64, asset caip.Asset, decimals int,
	holders []common.Address) error {
	sum := new(big.Int)
	for _, at := range holders {
		v, err := in.Balance(context.Background(), at, asset)
		if err != nil {
			return err
		}
		sum.Add(sum, v)
	}
	if asset.IsNative() {
		burned, err := h.burnedOn(in, chain)
		if err != nil {
			return err
		}
		sum.Add(sum, burned)
	}
	if want := supply(decimals); sum.Cmp(want) != 0 {
		h.problem("%s: %s exist, genesis made %s", asset, sum, want)
	}
	return nil
}

// burnedOn adds up the base fees of all blocks of a chain; those that were added before are not read again.
func (h *harness) burnedOn(in *devnet.Installation, chain uint64) (*big.Int, error) {
	c := &h.checker
	if c.burned == nil {
		c.burned, c.blocks = map[uint64]*big.Int{}, map[uint64]uint64{}
	}
	if c.burned[chain] == nil {
		c.burned[chain], c.blocks[chain] = new(big.Int), 1
	}
	for {
		b, found, err := in.Chains[chain].Block(context.Background(), c.blocks[chain])
		if err != nil || !found {
			return c.burned[chain], err
		}
		c.blocks[chain]++
		c.burned[chain].Add(c.burned[chain], new(big.Int).Mul(b.BaseFee, new(big.Int).SetUint64(b.GasUsed)))
	}
}
