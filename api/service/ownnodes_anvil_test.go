package service_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"io"
	"math/big"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/network"
	"coffer/api/service/chain/evm"
	"coffer/api/service/pinned"
	"coffer/api/service/signers"
	"coffer/assets"
)

// The step "anvil" of .ci/run gives the path.
var anvilProgram = flag.String("anvil", "", "run a service on chains of this anvil, a path")

// anvilOf starts a chain that makes a block each second, and returns its address.
func anvilOf(t *testing.T, id uint64) string {
	t.Helper()
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run anvil gives one")
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, *anvilProgram, "--port", "0", "--chain-id", strconv.FormatUint(id, 10),
		"--accounts", "1", "--hardfork", "prague", "--block-time", "1", "--cache-path", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	const listening = "Listening on "
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), listening) {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return "http://" + strings.TrimPrefix(lines.Text(), listening)
}

// newAnvilLab is a lab on anvil, whose first account has all coins and all USDC.
func newAnvilLab(t *testing.T) *lab {
	t.Helper()
	l, urls := lab{t: t, usdc: map[uint64]common.Address{}}, map[uint64]string{}
	for _, id := range labChains() {
		urls[id] = anvilOf(t, id)
	}
	// the key of the first account, which anvil prints
	key, err := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	if err != nil {
		t.Fatal(err)
	}
	l.send, l.payer = l.transact, signers.Local(key)
	art, err := assets.Contract("Token")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := abi.JSON(bytes.NewReader(art.ABI))
	if err != nil {
		t.Fatal(err)
	}
	args, err := parsed.Pack("", "USD Coin", "USDC", uint8(6), anvilRich(), big.NewInt(1e15))
	if err != nil {
		t.Fatal(err)
	}
	creation := append(art.Bytecode, args...)
	for _, id := range labChains() {
		l.usdc[id] = crypto.CreateAddress2(evm.DeterministicDeployer(), common.Hash{}, crypto.Keccak256(creation))
	}
	l.begin(network.Lab, urls)
	l.deploy()
	at, slot, err := pinned.Approval()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range labChains() {
		l.sent(id, evm.DeterministicDeployer(), nil, append(make([]byte, 32), creation...))
		var done bool
		l.ask(id, &done, "anvil_setStorageAt", at, slot, common.Hash{31: 1})
	}
	return &l
}

// anvilRich is the first account of every anvil, which it signs for.
func anvilRich() common.Address {
	return common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
}

// transact sends a transaction of it and waits for its block.
func (l *lab) transact(id uint64, to common.Address, v *big.Int, data []byte) (hash common.Hash, done bool) {
	l.t.Helper()
	tx := map[string]any{"from": anvilRich(), "to": to, "data": hexutil.Bytes(data), "gas": hexutil.Uint64(12_000_000)}
	if v != nil {
		tx["value"] = (*hexutil.Big)(v)
	}
	l.ask(id, &hash, "eth_sendTransaction", tx)
	var r struct{ Status hexutil.Uint64 }
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := l.pools[id].Call(l.t.Context(), &r, "eth_getTransactionReceipt", hash)
		if err == nil || time.Now().After(end) {
			return hash, err == nil && r.Status == 1
		}
	}
}

// TestAServiceOnAnvil is TestAServiceOnNodes on chains of an EVM that is not ours, which make their blocks themselves.
func TestAServiceOnAnvil(t *testing.T) { newAnvilLab(t).serves(t) }
