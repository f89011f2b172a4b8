//go:build unix

package rig

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
	"coffer/assets"
)

// CheckRecipient looks whether the trial call's recipient has exactly what the call pays.
func CheckRecipient(t *testing.T, in *devnet.Installation, usdc caip.Asset, needs string) {
	t.Helper()
	demo, err := assets.DemoKey()
	must(t, err)
	sent, err := amount.Parse(strings.ReplaceAll(needs, ",", ""), 6)
	must(t, err)
	if got, err := in.Balance(t.Context(), common.HexToAddress(demo.AddressBook[0].Address), usdc); err != nil ||
		got.Cmp(sent) != 0 {
		t.Errorf("the recipient has %v, expected %v: %v", got, sent, err)
	}
}

// OpenStore opens the installation that a program left in its data directory.
func OpenStore(t *testing.T, dir string) (in *devnet.Installation, closeStore func()) {
	t.Helper()
	file := filepath.Join(dir, service.DatabaseFile)
	s, err := store.OpenBolt(file, store.BoltOptions{Wait: 5 * time.Second, Holder: "test"})
	must(t, err)
	in, err = devnet.Open(s, devnet.Options{Clock: time.Now, Kind: network.Embedded})
	if err != nil {
		t.Fatal(errors.Join(err, s.Close()))
	}
	return in, func() { _ = s.Close() }
}
