//go:build unix

package renew_test

import (
	"context"
	"errors"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/devnet"
	"coffer/api/service/quotestore"
	"coffer/api/service/renew"
	"coffer/api/service/settle"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

// records is the history of an account, and each of its quotes as JSON.
func records(t *testing.T, b *quotestore.Book, user string) (page quotestore.Page, each map[string]string) {
	t.Helper()
	page, err := b.History(t.Context(), quotestore.HistoryQuery{User: user, Limit: 20,
		SortBy: quotestore.SortCreated})
	must(t, err)
	each = map[string]string{}
	for _, r := range page.Transactions {
		raw, err := json.Marshal(r, json.Deterministic(true))
		must(t, err)
		each[r.QuoteID] = string(raw)
	}
	return page, each
}

// TestAnOpenDepositInAnAttestedEscrowIsRefundedByTheNextGeneration: a network with this program's contracts, one quote
// that ended, one that was delivered and whose deposits wait for their release, and one whose three deposits wait for a
// fill. A program of the next generation opens it: what was deposited is back at its depositor, and history is whole.
func TestAnOpenDepositInAnAttestedEscrowIsRefundedByTheNextGeneration(t *testing.T) {
	t.Parallel()
	const usdc, base = 1_000_000, settletest.Base
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	s, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{})
	must(t, err)
	hold := settle.Moment("")
	w := settletest.New(t, settletest.Options{Store: s, Pause: func(int) time.Duration { return time.Hour },
		Faults: &settle.Faults{Wait: func(_ context.Context, at settle.Moment, _ string) error {
			if at == hold {
				return errors.New("held for the test")
			}
			return nil
		}}})
	paying := []uint64{settletest.Arbitrum, settletest.Polygon, settletest.Optimism}
	for _, id := range paying {
		w.Fund(w.User.Address, w.Asset("usdc", id), 300*usdc)
	}
	payee, token := common.HexToAddress("0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"), w.Asset("usdc", base)
	pay := func(v int64) api.ExecutionStatus {
		signed := w.SignQuote(w.Quote(w.Request(token, v, settletest.Transfer(token, payee, v)), "ob:usdc"))
		must(t, w.Execute(signed))
		_ = w.Settler.Idle(t.Context()) // its error is the hold
		return w.Status(w.Decode(signed).ID)
	}
	completed := pay(20 * usdc)
	hold = settle.AtRelease
	delivered := pay(30 * usdc)
	had := map[uint64]*big.Int{}
	for _, id := range paying {
		had[id] = w.Balance(w.User.Address, w.Asset("usdc", id))
	}
	hold = settle.AtFill
	open := pay(650 * usdc)
	if completed.Status != api.StatusCompleted || delivered.Status != api.StatusExecuted ||
		open.Status != api.StatusInProgress || len(open.OriginChainOperations) != 3 {
		t.Fatalf("%+v\n%+v\n%+v", completed, delivered, open)
	}
	_, before := records(t, w.Book, w.User.Address.Hex())
	old := w.Installation.Descriptor
	raw, err := old.Encode()
	must(t, errors.Join(err, w.Settler.Close(), s.Close(),
		os.WriteFile(filepath.Join(dir, service.NetworkFile), raw, 0o600)))

	next := devnet.Options{Clock: w.Clock.Now, Random: rand.NewChaCha8([32]byte{8}), Kind: network.Embedded,
		Time: devnet.Time + 7}
	must(t, renew.Run(t.Context(), renew.Options{Dir: dir, Database: service.DatabaseFile,
		Descriptor: service.NetworkFile, Installation: next, Log: slog.New(slog.DiscardHandler)}))
	s, err = store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	now, err := devnet.Open(s, next)
	must(t, err)
	all := renew.List(dir, service.NetworkFile, now.Descriptor)
	if len(all) != 1 || all[0].Network.ID != old.ID || len(all[0].Left) != 0 || now.ID == old.ID {
		t.Fatalf("earlier networks %+v", all)
	}
	book, err := quotestore.Open(s, quotestore.Options{Clock: w.Clock.Now, Random: rand.NewChaCha8([32]byte{9})})
	must(t, err)
	page, after := records(t, book, w.User.Address.Hex())
	if len(page.Transactions) != 3 || len(page.Damaged) != 0 || before[completed.QuoteID] != after[completed.QuoteID] {
		t.Errorf("history is\n%v\nit was\n%v", after, before)
	}
	for id, want := range map[string]string{delivered.QuoteID: api.StatusCompleted, open.QuoteID: api.StatusRefunded} {
		got, _, err := book.Status(t.Context(), id)
		must(t, err)
		if got.Status != want || want == api.StatusRefunded && len(got.OriginChainOperations) != 6 {
			t.Errorf("%+v, expected %s", got, want)
		}
	}

	in, closer, err := all[0].Open(service.DatabaseFile)
	must(t, err)
	defer func() { must(t, closer.Close()) }()
	for _, id := range paying {
		asset := w.Asset("usdc", id)
		if got, err := in.Balance(t.Context(), w.User.Address, asset); err != nil || got.Cmp(had[id]) != 0 {
			t.Errorf("the depositor has %s on %d, and had %s before the deposit (%v)", got, id, had[id], err)
		}
	}
}
