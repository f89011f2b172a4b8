//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client/httplog"
	"coffer/assets"
	"coffer/ui/compose"
	"coffer/ui/sample"
	"coffer/ui/tui"
	"coffer/ui/tui/accounts"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/balances"
	"coffer/ui/tui/builder"
	"coffer/ui/tui/history"
	"coffer/ui/tui/lab"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/settings"
	"coffer/ui/tui/wire"
)

const (
	manyAssets  = 200
	manyRecords = 1_000_000
)

// facts is what the subject tells of itself when it gets SIGUSR1: a line of JSON on file descriptor 3.
type facts struct {
	Heap    uint64 `json:"heap"`    // bytes that live after a collection
	Records int64  `json:"records"` // of history that were served
}

// subject is the dashboard on made-up answers.
func subject(ctx context.Context) error {
	c, err := bigCatalog()
	if err != nil {
		return err
	}
	s := &source{catalog: c}
	stop, err := s.tell(ctx)
	if err != nil {
		return err
	}
	defer stop()
	account := api.Account{Type: api.AccountKernelV31, AccountAddress: sample.Account, SignerAddress: sample.Signer}
	solana := api.Account{Type: api.AccountSolana, AccountAddress: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"}
	return tui.Run(ctx, tui.Options{
		Env: os.Environ(),
		Context: screen.Context{
			Profile: "measured", BaseURL: "https://embedded.invalid/api", Catalog: c, Clock: time.Now,
			Accounts: []api.Account{account, solana},
			Network:  sample.Network(),
		},
		Screens: func(x screen.Context) map[screen.ID]screen.Screen {
			build := builder.New(x, builder.Deps{
				Balances: s.Balances, Book: []compose.Contact{
					{Name: "Payee", Address: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"}},
			})
			return map[screen.ID]screen.Screen{
				screen.Balances: balances.New(x, s),
				screen.Build:    build,
				screen.History:  history.New(x, s),
				screen.Accounts: accounts.New(x, accounts.Deps{}),
				screen.Activity: activity.New(x, activity.Deps{}),
				screen.Lab:      lab.New(x, lab.Deps{Draft: build.Draft, Balances: s.Balances}),
				screen.Settings: settings.New(x, settings.Deps{}),
				screen.Wire:     wire.New(x, wire.Deps{Log: s.traffic(ctx)}),
			}
		},
	})
}

// bigCatalog is the shipped one with so many aggregates more.
func bigCatalog() (*catalog.Catalog, error) {
	d, err := assets.Catalogue()
	if err != nil {
		return nil, err
	}
	for n := 1; len(d.Tokens) < manyAssets; n++ {
		t := assets.Token{
			AggregatedAssetID: fmt.Sprintf("ob:token%d", n), Symbol: fmt.Sprintf("TOK%d", n),
			Name: fmt.Sprintf("Token number %d", n), Decimals: new(18),
			PriceMicroUSD: strconv.Itoa(10_000 + n*7919),
		}
		for i, chain := range []int{1, 10, 8453, 42161} {
			t.AggregatedEntities = append(t.AggregatedEntities, assets.Entity{
				AssetType: fmt.Sprintf("eip155:%d/erc20:%s", chain,
					common.BigToAddress(big.NewInt(int64(n*16+i+1<<20))).Hex()), Symbol: t.Symbol, Name: t.Name,
				Decimals: t.Decimals,
			})
		}
		d.Tokens = append(d.Tokens, t)
	}
	return catalog.New(d)
}

// source answers balances and history.
type source struct {
	catalog *catalog.Catalog
	served  atomic.Int64
}

// Balances holds something of every asset.
func (s *source) Balances(context.Context) (api.AggregatedBalance, error) {
	n := -1 // of the aggregate
	return sample.Balances(s.catalog, func(a catalog.Aggregate, i int) *big.Int {
		if i == 0 {
			n++
		}
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(0, a.Entities[i].Decimals-1))), nil)
		return unit.Mul(unit, big.NewInt(int64(1+n*31+i*7)))
	}), nil
}

// History serves pages of a million records, newest first; a continuation is the number of the next one.
func (s *source) History(_ context.Context, limit int, continuation string) (api.HistoryPage, error) {
	from := 0
	if continuation != "" {
		var err error
		if from, err = strconv.Atoi(continuation); err != nil {
			return api.HistoryPage{}, err
		}
	}
	var page api.HistoryPage
	for i := from; i < min(from+limit, manyRecords); i++ {
		page.Transactions = append(page.Transactions, sample.Record(i))
	}
	if next := from + limit; next < manyRecords {
		page.Continuation = strconv.Itoa(next)
	}
	s.served.Add(int64(len(page.Transactions)))
	return page, nil
}

// traffic is a log with as many exchanges as it holds.
func (s *source) traffic(ctx context.Context) *httplog.Log {
	log := httplog.NewLog(time.Now)
	way := log.Wrap(answers{s})
	for range 500 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet,
			"https://embedded.invalid/api/v3/status/get-tx-history?limit=2", nil)
		if err != nil {
			return log
		}
		if a, err := way.RoundTrip(r); err == nil {
			_, _ = io.Copy(io.Discard, a.Body)
			_ = a.Body.Close()
		}
	}
	return log
}

// answers is a transport that answers every request with two records.
type answers struct{ s *source }

// RoundTrip answers.
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	page, err := a.s.History(r.Context(), 2, "")
	if err != nil {
		return nil, err
	}
	body, err := api.Encode(page)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(body.Raw())), Request: r}, err
}

// tell answers SIGUSR1 with facts.
func (s *source) tell(ctx context.Context) (stop func(), err error) {
	out := os.NewFile(3, "facts")
	if out == nil {
		return nil, fmt.Errorf("file descriptor 3 is not open")
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		enc := json.NewEncoder(out)
		for {
			select {
			case <-ctx.Done():
				return
			case <-asked:
				var f facts
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				f.Heap, f.Records = m.HeapAlloc, s.served.Load()
				_ = enc.Encode(f)
			}
		}
	}()
	return func() { cancel(); signal.Stop(asked); _ = out.Close() }, nil
}
