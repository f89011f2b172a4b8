package service_test

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/store"
)

// damaged flips a bit in every record of a bucket whose key begins with a prefix, and returns how many there are.
func damaged(t *testing.T, path, bucket, prefix string) (n int) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		changed := map[string][]byte{}
		err := b.ForEach(func(k, v []byte) error {
			if strings.HasPrefix(string(k), prefix) {
				v = bytes.Clone(v)
				v[0] ^= 1
				changed[string(k)] = v
			}
			return nil
		})
		for k, v := range changed {
			err = errors.Join(err, b.Put([]byte(k), v))
		}
		n = len(changed)
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

// What is damaged is named in the answer and in the log, what is not goes on, and no balance is told that was not
// written.
func TestR3_WhatIsDamagedIsNamed(t *testing.T) {
	path, log := filepath.Join(t.TempDir(), "coffer.db"), new(bytes.Buffer)
	var s *service.Service
	var file store.Store
	begin := func() *client {
		t.Helper()
		var err error
		if file, err = store.OpenBolt(path, store.BoltOptions{}); err != nil {
			t.Fatal(err)
		}
		o := options(file)
		o.Log = slog.New(slog.NewTextHandler(log, nil))
		if s, err = service.Open(o); err != nil {
			t.Fatal(err)
		}
		return newClient(t, s, api.AccountKernelV31, 7)
	}
	end := func() {
		t.Helper()
		if err := errors.Join(s.Close(), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	c := begin()
	var ids []string
	for range 2 {
		signed, id, _ := c.call(c.transfer(5_000_000), "ob:usdc")
		c.done(c.finish(signed, id), api.RecordCall)
		ids = append(ids, id)
	}
	end()
	if n := damaged(t, path, "book-quote", ids[0]); n != 1 {
		t.Fatalf("%d records of quote %s", n, ids[0])
	}
	c = begin()
	var page api.HistoryPage
	if err := c.ask("GET", c.statusPath()+"/get-tx-history?user="+c.user.Address.Hex(), "").Decode(&page); err != nil {
		t.Fatal(err)
	}
	if len(page.Transactions) != 1 || page.Transactions[0].QuoteID != ids[1] || len(page.Damaged) != 1 ||
		page.Damaged[0] != ids[0] {
		t.Errorf("%+v", page)
	}
	status, body := get(t, c.rt, "https://x/api/v3/status/get-execution-status?quoteId="+ids[0], key)
	if status != 500 || !strings.Contains(body, ids[0]) || !strings.Contains(body, "damaged") {
		t.Errorf("%d %s", status, body)
	}
	if !strings.Contains(log.String(), ids[0]+" of book-quote is not what was written") {
		t.Errorf("the log is\n%s", log)
	}
	end()

	if n := damaged(t, path, "evm/8453/state", "s"); n == 0 {
		t.Fatal("there is no slot")
	}
	c = begin()
	defer end()
	ask := "https://x/api/v3/balances/aggregated-balance?aggregatedAssetId=ob:usdc&account=eip155:8453:" +
		c.user.Address.Hex()
	status, body = get(t, c.rt, ask, key)
	if status != 500 || !strings.Contains(body, "damaged") || !strings.Contains(log.String(), "of evm/8453/state") {
		t.Errorf("a balance of a damaged state: %d %s", status, body)
	}
	if status, body = get(t, c.rt, "https://x/api/assets/list", key); status != 200 {
		t.Errorf("what does not need it: %d %s", status, body)
	}
}
