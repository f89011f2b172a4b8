package service_test

import (
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/store"
)

// A copy of a running service, made while accounts are being funded, restores to the same network with sums that agree
// and everything that was answered before the copy began.
func TestR5_ABackupOfARunningServiceIsRestored(t *testing.T) {
	dir := t.TempDir()
	a, err := service.OpenOrAttach(t.Context(), dir, service.Options{Kind: network.Lab, Fund: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ask := func(n int) {
		status, body := get(t, a, a.BaseURL+
			"/v3/balances/aggregated-balance?aggregatedAssetId=ob:usdc&account=eip155:8453:"+addressOf(n).Hex(),
			a.APIKey)
		if status != 200 {
			t.Errorf("%d %s", status, body)
		}
	}
	ask(1)
	stop := make(chan struct{})
	var traffic sync.WaitGroup
	traffic.Go(func() {
		for n := 100; ; n++ {
			select {
			case <-stop:
				return
			default:
				ask(n)
			}
		}
	})
	file := filepath.Join(t.TempDir(), "backup.db")
	r, err := service.BackUp(t.Context(), dir, file)
	close(stop)
	traffic.Wait()
	if err != nil || r.Records == 0 || r.Damages != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	restored := t.TempDir()
	if err := os.Rename(file, filepath.Join(restored, service.DatabaseFile)); err != nil {
		t.Fatal(err)
	}
	b, err := service.OpenOrAttach(t.Context(), restored, service.Options{Kind: network.Lab, Fund: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.Network.ID != b.Network.ID {
		t.Errorf("the restored network is %s, it was %s", b.Network.ID, a.Network.ID)
	}
	for _, c := range b.Service().Network().Chains {
		chain, err := caip.ParseChain(c)
		if err != nil {
			t.Fatal(err)
		}
		asset := caip.Native(must(chain.EVMID()))
		had, has := service.Held(t, a.Service(), addressOf(1), asset), service.Held(t, b.Service(), addressOf(1), asset)
		if had.Cmp(has) != 0 {
			t.Errorf("%s: restored %s, was %s", asset, has, had)
		}
	}
	service.Replay(t, b.Service())
}

func must(id uint64, ok bool) uint64 {
	if !ok {
		panic("no EVM chain")
	}
	return id
}

func addressOf(n int) common.Address { return common.BigToAddress(big.NewInt(int64(n) + 1<<40)) }

// A backup without a running service, one over a file that is there, and one of nothing.
func TestR5_ABackupNeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	ended(t, dir)
	file := filepath.Join(t.TempDir(), "backup.db")
	source, err := os.ReadFile(filepath.Join(dir, service.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.BackUp(t.Context(), dir, file); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, service.DatabaseFile)); err != nil || string(now) != string(source) {
		t.Errorf("the database was written to: %v", err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.BackUp(t.Context(), dir, file); !errors.Is(err, service.ErrExists) {
		t.Errorf("over a file: %v", err)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.db")
	if _, err := service.BackUp(t.Context(), t.TempDir(), none); !errors.Is(err, service.ErrNoDatabase) {
		t.Errorf("of nothing: %v", err)
	}
	if err := os.Truncate(filepath.Join(dir, service.DatabaseFile), 300<<10); err != nil {
		t.Fatal(err)
	}
	if _, err := service.BackUp(t.Context(), dir, none); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("of a damaged database: %v", err)
	}
	for _, where := range []string{file, none} {
		names, err := filepath.Glob(filepath.Join(filepath.Dir(where), "*"))
		if want := map[string]int{file: 1}[where]; err != nil || len(names) != want {
			t.Errorf("left are %q (%v)", names, err)
		}
	}
}

// The copy is the database with the service's keys: the open port does not give it to anyone.
func TestR5_TheOpenPortGivesNoBackup(t *testing.T) {
	a, err := service.OpenOrAttach(t.Context(), t.TempDir(), service.Options{Kind: network.Lab})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if status, body := get(t, a, strings.TrimSuffix(a.BaseURL, "/api")+"/admin/backup", a.APIKey); status != 404 {
		t.Errorf("%d with %d bytes", status, len(body))
	}
}
