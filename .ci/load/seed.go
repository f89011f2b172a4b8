package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/crash/traffic"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
)

// batch is how many records are written in one commit; between is the time between two records, so that a hundred
// thousand cover a month.
const (
	batch   = 250
	between = 25 * time.Second
)

// seed makes the store unless it was made before with the same figures, and returns its people.
func seed(ctx context.Context, o options, data string, out io.Writer) ([]*traffic.Person, error) {
	sample, document, pins, err := sampleRecord(ctx)
	if err != nil {
		return nil, err
	}
	people := make([]*traffic.Person, o.accounts)
	for i := range people {
		if people[i], err = traffic.NewPerson(pins, api.AccountKernelV31, o.seed, i); err != nil {
			return nil, err
		}
	}
	mark, content := filepath.Join(filepath.Dir(data), "seeded"),
		fmt.Sprintf("%d accounts, %d records, seed %d\n", o.accounts, o.records, o.seed)
	if made, err := os.ReadFile(mark); err == nil && string(made) == content {
		return people, nil
	} else if err == nil {
		return nil, fmt.Errorf("%s holds %s", filepath.Dir(data), made)
	}
	begin := time.Now()
	if err := fund(ctx, data, people, o.workers); err != nil {
		return nil, err
	}
	funded := time.Now()
	if err := record(ctx, data, o.records, people, sample, document); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "made the store: accounts in %.1f s, records in %.1f s\n", funded.Sub(begin).Seconds(),
		time.Since(funded).Seconds())
	return people, os.WriteFile(mark, []byte(content), 0o600)
}

// fund asks for everybody's balances once, which is what gives test funds. It comes before the records: who has a
// history gets none.
func fund(ctx context.Context, data string, people []*traffic.Person, workers int) error {
	a, client, err := openService(ctx, data)
	if err != nil {
		return err
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(people)); i = next.Add(1) - 1 {
				if _, err := people[i].Holdings(ctx, client, traffic.Paying); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), a.Close())
}

// sampleRecord makes one real record: a service in memory, one person, one call that other chains fund, completed.
func sampleRecord(ctx context.Context) (q *quotestore.Quote, document []byte, pins network.Pins, err error) {
	memory := store.NewMemory()
	s, err := service.Open(service.Options{Store: memory, Kind: network.Lab, Fund: true})
	if err != nil {
		return nil, nil, pins, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	pins = s.Network().Pins
	p, err := traffic.NewPerson(pins, api.AccountKernelV31, 0, 0)
	if err != nil {
		return nil, nil, pins, err
	}
	w := &worker{client: traffic.NewClient("https://coffer.internal"+service.DefaultBasePath, s.APIKey(),
		service.RoundTripper(s.Handler()))}
	w.people, w.dice = []*traffic.Person{p, p}, mrand.New(mrand.NewPCG(0, 0)) //nolint:gosec // chance, not secrets
	var legs int
	for legs < 2 && err == nil { // until it is a call with several deposits
		var id string
		if id, err = w.flow(ctx, newResult()); err != nil {
			return nil, nil, pins, err
		}
		b, errBook := quotestore.Open(memory, quotestore.Options{Clock: time.Now, Random: rand.Reader})
		if errBook != nil {
			return nil, nil, pins, errBook
		}
		if q, err = b.Quote(ctx, id); err == nil {
			legs = len(q.Legs)
			err = memory.View(func(tx store.Tx) error {
				document = tx.Bucket("book-document").Get([]byte(id))
				return nil
			})
		}
	}
	return q, document, pins, err
}

// record writes completed records, spread over all people, through the book's own steps, and carries them over in
// batches as they are.
func record(ctx context.Context, data string, n int, people []*traffic.Person, sample *quotestore.Quote,
	document []byte) (err error) {
	s, err := store.OpenBolt(filepath.Join(data, service.DatabaseFile), store.BoltOptions{Holder: "load"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	now := time.Now().Add(-time.Duration(n)*between - time.Hour)
	report := func(damage error) { err = errors.Join(err, damage) }
	for done := 0; done < n && err == nil; {
		memory := store.NewMemory() // where a commit waits for no disk
		b, errBook := quotestore.Open(memory, quotestore.Options{Clock: func() time.Time { return now },
			Random: rand.Reader})
		if errBook != nil {
			return errBook
		}
		for range min(batch, n-done) {
			now = now.Add(between)
			if err := recordOne(ctx, b, now, sample, document, people[done%len(people)]); err != nil {
				return err
			}
			done++
		}
		if err := quotestore.Carry(memory, s, report); err != nil {
			return err
		}
	}
	return err
}

// recordOne is the sample again, for another person, under ids of its own.
func recordOne(ctx context.Context, b *quotestore.Book, now time.Time, sample *quotestore.Quote, document []byte,
	p *traffic.Person) error {
	var random [64]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	q := sample.Clone()
	q.ID, q.OpHash = "0x"+hex.EncodeToString(random[:32]), common.Hash(random[32:])
	q.Accounts, q.Owner = p.Accounts(), p.Address
	q.Status, q.FailReason = "", ""
	q.Expires, q.ValidUntil = uint64(now.Unix())+30, uint64(now.Unix())+600
	document = bytes.ReplaceAll(document, []byte(sample.ID), []byte(q.ID))
	document = bytes.ReplaceAll(document, []byte(sample.Owner.Hex()), []byte(p.Address.Hex()))
	document = bytes.ReplaceAll(document, []byte(strings.ToLower(sample.Owner.Hex()[2:])),
		[]byte(strings.ToLower(p.Address.Hex()[2:])))
	c := quotestore.Context{OpHash: q.OpHash, ChainID: q.ChainID, Accounts: q.Accounts, Owner: q.Owner,
		ValidUntil: q.ValidUntil}
	seen, err := b.Latest(ctx, q.Owner.Hex(), q.SolanaOwner)
	if err := errors.Join(err, b.Keep(ctx, c), b.Offer(ctx, q, document, c), b.Accept(ctx, q, c, seen)); err != nil {
		return err
	}
	for _, status := range []string{api.StatusInProgress, api.StatusExecuted, api.StatusCompleted} {
		before := q
		q = q.Clone()
		q.Status = status
		if err := b.Advance(ctx, before, q); err != nil {
			return err
		}
	}
	return nil
}
