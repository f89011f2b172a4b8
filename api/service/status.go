package service

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/feeds"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service/deployment"
	"coffer/api/service/metrics"
	"coffer/api/service/netstatus"
	"coffer/api/service/outbox/lane"
	"coffer/api/service/quote"
	"coffer/api/service/quotestore"
	"coffer/api/service/remotenet"
	"coffer/api/service/store/pg"
)

// statusPath is where the local socket answers how the network of an operator is.
const statusPath = adminPath + "status"

// statusEvery is how often the service of an operator looks whether there is something to say in the log.
const statusEvery = time.Minute

// statusWithin bounds how long a status may take.
const statusWithin = 30 * time.Second

// ErrNoOperator says that a status was asked for of what has no operator.
var ErrNoOperator = errors.New("only the service of an operator on nodes has this status")

// sponsoredSince is how far back gas counts that no one paid for, as quotes count it.
const sponsoredSince = -24 * time.Hour

// books are what the database of an operator's service says.
type books struct {
	open     []*quotestore.Quote
	gas      netstatus.Sponsored
	flows    map[string]quotestore.Flow
	lanes    map[uint64]lane.Status
	operator common.Address
	network  string
}

func readBooks(ctx context.Context, b *quotestore.Book, now time.Time) (out *books, err error) {
	out = &books{}
	if out.open, err = quote.OpenQuotes(ctx, b); err != nil {
		return nil, err
	}
	if out.flows, err = b.Flows(ctx, now.AddDate(0, 0, -netstatus.FlowDays)); err != nil {
		return nil, err
	}
	g := &out.gas
	g.Sum, g.Most, g.Accounts, err = b.Gas(ctx, now.Add(sponsoredSince))
	return out, err
}

// Status is how the network of this operator is now.
func (s *Service) Status(ctx context.Context) (*netstatus.Status, error) {
	if s.remote == nil || s.in.Limits == nil {
		return nil, ErrNoOperator
	}
	now := s.opts.Clock()
	b, err := readBooks(ctx, s.book, now)
	if err != nil {
		return nil, err
	}
	out := statusOf(ctx, s.remote, b, netstatus.FromService, now)
	out.Attesters = attesters(s.remote, now)
	out.Judge()
	return out, nil
}

// attesters are those of an operator's network, as this process knows them.
func attesters(n *remotenet.Network, now time.Time) *netstatus.Attesters {
	if n.Panel == nil {
		return nil
	}
	all, k := n.Panel.Members(now)
	out := &netstatus.Attesters{Threshold: k}
	for _, m := range all {
		one := netstatus.Attester{Address: m.Address, Here: m.Here, Answers: m.Answers, Fault: m.Fault}
		if !m.Answered.IsZero() {
			one.Answered = new(m.Answered.UTC().Truncate(time.Second))
		}
		out.Members = append(out.Members, one)
	}
	return out
}

// statusOf puts a status together. b is nil where no database was read.
func statusOf(ctx context.Context, n *remotenet.Network, b *books, source string, now time.Time) *netstatus.Status {
	ctx, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	out := &netstatus.Status{Source: source, At: now.UTC().Truncate(time.Second), Network: n.ID,
		Kind: string(n.Kind), Filler: n.Pins.Solver}
	if n.Pins.Operator != (common.Address{}) {
		out.Key = &n.Pins.Operator
	}
	var lanes map[uint64]lane.Status
	if b != nil {
		lanes = b.lanes
	}
	out.Chains = n.Look(ctx, lanes)
	out.Prices = prices(n.Network, n.Prices, now)
	if b != nil {
		b.gas.Cap = n.Limits.SponsorPerDay
		out.Sponsored = &b.gas
		promised(out, b)
		out.Deposits = deposits(n.Network, b.open)
		out.Exposure = &netstatus.Exposure{Cap: n.Limits.Exposure}
		var err error
		if out.Exposure.Used, err = quote.Exposure(n.Network, n.Prices, now, b.open); err != nil {
			out.Exposure.Why = "an asset in escrow has no price"
		}
	}
	out.Judge()
	return out
}

// prices are those of the assets that the network has on its chains.
func prices(n *deployment.Network, from *feeds.Feeds, now time.Time) (out []netstatus.Price) {
	for _, a := range n.Catalog.Aggregates() {
		s := from.State(a.ID, now)
		out = append(out, netstatus.Price{Asset: string(a.ID), Symbol: a.Symbol, Micro: s.MicroUSD, Problem: s.Problem})
	}
	return out
}

// promised fills in what accepted quotes will still take, and what came and went of late.
func promised(s *netstatus.Status, b *books) {
	for i := range s.Chains {
		for k := range s.Chains[i].Inventory {
			h := &s.Chains[i].Inventory[k]
			h.Promised = quote.Promised(b.open, h.Asset)
			h.Delivered, h.Deposited = new(big.Int), new(big.Int)
			if f, known := b.flows[h.Asset]; known {
				h.Delivered, h.Deposited = f.Delivered, f.Deposited
			}
		}
	}
}

// deposits are what lies in escrow.
func deposits(n *deployment.Network, open []*quotestore.Quote) *netstatus.Deposits {
	out := &netstatus.Deposits{Held: []netstatus.Deposit{}}
	for _, q := range open {
		for _, l := range q.Legs {
			if l.State != quotestore.LegDeposited {
				continue
			}
			on, _ := n.Catalog.Chain(l.Chain())
			d := netstatus.Deposit{Quote: q.ID, Chain: l.ChainID, ChainName: on.Name, Asset: l.Pays.Asset,
				Amount:    new(big.Int).Set(l.Pays.Value),
				Deadline:  time.Unix(int64(n.RefundDeadline(q.Terms())), 0).UTC(),
				Delivered: q.Status == api.StatusExecuted || q.Status == api.StatusCompleted}
			if e, known := n.Catalog.Entity(l.Pays.CAIP()); known {
				d.Symbol, d.Decimals = e.Symbol, e.Decimals
			}
			out.Held = append(out.Held, d)
		}
	}
	return out
}

// watchNetwork looks at the network of an operator now and then, until Close, so that the log and the metrics have it.
func (s *Service) watchNetwork() {
	if s.remote == nil || s.in.Limits == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	sweep := s.endSweep
	s.endSweep = func() { sweep(); cancel() }
	s.sweeping.Go(func() {
		var watch netstatus.Watch
		tick := time.NewTicker(cmp.Or(s.opts.StatusEvery, statusEvery))
		defer tick.Stop()
		for {
			if now, err := s.Status(ctx); err != nil {
				if ctx.Err() == nil {
					s.opts.Log.Error("the status of the network cannot be read", "error", err)
				}
			} else if ctx.Err() == nil {
				watch.See(now, s.opts.Log)
				s.status.Store(now)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// Figures are those of the network's status, as it was read last; none before the first time.
func (s *Service) Figures() []metrics.Family {
	if now := s.status.Load(); now != nil {
		return now.Series()
	}
	return nil
}

func (s *Service) sendStatus(w http.ResponseWriter, r *http.Request) {
	now, err := s.Status(r.Context())
	if err != nil {
		reply(w, http.StatusServiceUnavailable, nil, api.NewError(api.ErrUnavailable, "%v", err))
		return
	}
	raw, err := now.Encode()
	reply(w, http.StatusOK, jsontext.Value(raw), err)
}

// ReadStatus is the status of the network of o.Networks: of the service that runs in o.Dir, else of its database, which
// is opened for a moment, and the chains; where no service has run there, of the chains alone. Nothing is changed.
func ReadStatus(ctx context.Context, o Options) (*netstatus.Status, error) {
	var b *books
	var running *netstatus.Status
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	source := netstatus.FromChains
	d, err := databaseOf(o.Dir)
	if err != nil {
		return nil, err
	}
	if d.exists() {
		source = netstatus.FromDatabase
		err := reachStore(ctx, o.Dir, attachWait, func() (err error) {
			b, err = booksOf(ctx, d, o)
			return err
		}, func(way *http.Transport) (reached bool, err error) {
			running, reached, err = fetchStatus(ctx, way)
			return reached, err
		})
		if err == nil && running != nil {
			err = sameNetwork(o.Networks, running.Network)
		}
		if err != nil || running != nil {
			return running, err
		}
	}
	var key common.Address
	if b != nil {
		key = b.operator
		if err := sameNetwork(o.Networks, b.network); err != nil {
			return nil, err
		}
	} else {
		source = netstatus.FromChains
	}
	n, err := remotenet.OpenToRead(ctx, remotenet.Options{File: o.Networks, Credential: o.Credential, Clock: o.Clock,
		Log: slog.New(slog.DiscardHandler)}, key)
	if err != nil {
		return nil, err
	}
	out := statusOf(ctx, n, b, source, o.Clock())
	return out, n.Close()
}

// sameNetwork refuses data of another network than that of a file. A service that runs needs no file.
func sameNetwork(file, id string) error {
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(file), networks.Descriptor))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	d, err := network.Decode(raw)
	if err == nil && d.ID != id {
		err = fmt.Errorf("%w: name the data directory of its service", remotenet.ErrOther)
	}
	return err
}

// booksOf reads a database that no process has open.
func booksOf(ctx context.Context, at database, o Options) (_ *books, err error) {
	s, err := at.open(ctx, pg.Options{Holder: "coffer network status"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	raw, err := os.ReadFile(filepath.Join(at.dir, NetworkFile))
	if errors.Is(err, fs.ErrNotExist) { // it has keys and no network yet
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := network.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", NetworkFile, err)
	}
	if len(d.Deployments) == 0 {
		return nil, ErrNoOperator
	}
	book, err := quotestore.Open(s, quotestore.Options{Clock: o.Clock, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	b, err := readBooks(ctx, book, o.Clock())
	if err != nil {
		return nil, err
	}
	b.operator, b.network, b.lanes = d.Pins.Operator, d.ID, map[uint64]lane.Status{}
	for _, name := range d.Chains {
		c, err := caip.ParseChain(name)
		if err != nil {
			return nil, err
		}
		if id, is := c.EVMID(); is {
			if b.lanes[id], err = lane.Recorded(s, id, b.operator); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// fetchStatus asks the process behind the socket.
func fetchStatus(ctx context.Context, way *http.Transport) (_ *netstatus.Status, reached bool, err error) {
	raw, reached, err := askAdmin(ctx, way, http.MethodGet, statusPath, nil)
	if err != nil {
		return nil, reached, err
	}
	out, err := netstatus.Decode(raw)
	if err != nil {
		return nil, true, fmt.Errorf("the service gave a status that cannot be read: %w", err)
	}
	return out, true, nil
}

// askAdmin asks the process behind a socket; reached is false when none answers there.
func askAdmin(ctx context.Context, way http.RoundTripper, method, path string, body []byte) (raw []byte, reached bool,
	err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+localHost+path, bytes.NewReader(body))
	if err != nil {
		return nil, true, err
	}
	res, err := way.RoundTrip(req)
	if err != nil {
		return nil, !errors.Is(err, errDial), err
	}
	raw, err = io.ReadAll(io.LimitReader(res.Body, maxAdminAnswer))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, true, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, true, api.ParseError(res.StatusCode, raw)
	}
	return raw, true, nil
}
