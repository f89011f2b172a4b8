package rpcpool_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
)

var anvilProgram = flag.String("anvil", "", "ask this anvil, a path")

// anvil starts one and returns a way to it that misbehaves as scripted.
func anvil(t *testing.T) func(seed uint64, rules ...faultproxy.Rule) *faultproxy.Proxy {
	t.Helper()
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run anvil gives one")
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, *anvilProgram, "--port", "0", "--chain-id", fmt.Sprint(chainID), "--accounts", "0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	var at string
	for lines := bufio.NewScanner(out); at == "" && lines.Scan(); {
		if host, found := strings.CutPrefix(lines.Text(), "Listening on "); found {
			at = host
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	node := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: at})
	return func(seed uint64, rules ...faultproxy.Rule) *faultproxy.Proxy {
		p := faultproxy.New(node, seed, rules...)
		t.Cleanup(p.Close)
		return p
	}
}

// sender signs transfers of one wei to itself.
type sender struct {
	t  *testing.T
	tx func(nonce uint64, fee int64) (raw []byte, hash common.Hash)
	at common.Address
}

func newSender(t *testing.T, p *rpcpool.Pool, wei *big.Int) *sender {
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	s := &sender{t: t, at: crypto.PubkeyToAddress(key.PublicKey)}
	if err := p.Call(t.Context(), nil, "anvil_setBalance", s.at, (*hexutil.Big)(wei)); err != nil {
		t.Fatal(err)
	}
	s.tx = func(nonce uint64, fee int64) ([]byte, common.Hash) {
		tx := types.MustSignNewTx(key, types.LatestSignerForChainID(big.NewInt(chainID)), &types.DynamicFeeTx{
			ChainID: big.NewInt(chainID), Nonce: nonce, GasTipCap: big.NewInt(fee), GasFeeCap: big.NewInt(fee),
			Gas: 21_000, To: &s.at, Value: common.Big1})
		raw, err := tx.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return raw, tx.Hash()
	}
	return s
}

const gwei = 1_000_000_000

func TestSendingOnAnvil(t *testing.T) {
	way := anvil(t)
	p := pool(t, func(o *rpcpool.Options) { o.Timeout = 5 * time.Second }, way(1))
	s := newSender(t, p, big.NewInt(1e18))
	send := func(nonce uint64, fee int64, want rpcpool.SendFault) {
		t.Helper()
		raw, hash := s.tx(nonce, fee)
		got, err := p.Broadcast(t.Context(), raw)
		var e *rpcpool.Error
		switch {
		case got != hash:
			t.Errorf("hash %s", got)
		case want == "" && err != nil:
			t.Error(err)
		case want != "" && (!errors.As(err, &e) || e.SendFault() != want):
			t.Errorf("%v, expected %s", err, want)
		}
	}
	send(0, 10*gwei, "")
	settled(t, "it is not mined", func() bool {
		var nonce hexutil.Uint64
		return p.Call(t.Context(), &nonce, "eth_getTransactionCount", s.at, "latest") == nil && nonce == 1
	})
	send(0, 10*gwei, "") // mined: the nonce is used, by itself
	send(0, 11*gwei, rpcpool.NonceTooLow)
	if err := p.Call(t.Context(), nil, "evm_setAutomine", false); err != nil {
		t.Fatal(err)
	}
	send(1, 10*gwei, "")
	send(1, 10*gwei, "") // waiting: it is known
	send(1, 9*gwei, rpcpool.ReplacementTooLow)
	send(1, 12*gwei, "")
	poor := newSender(t, p, big.NewInt(1))
	raw, _ := poor.tx(0, 10*gwei)
	var e *rpcpool.Error
	if _, err := p.Broadcast(t.Context(), raw); !errors.As(err, &e) || e.SendFault() != rpcpool.NoFunds {
		t.Error(err)
	}
}

// However the ways to a node fail, a transaction that is sent until it is there is there once.
func TestATransactionIsThereOnceOnAnvil(t *testing.T) {
	way := anvil(t)
	bad := func(seed uint64) *faultproxy.Proxy {
		return way(seed, faultproxy.Rule{Chance: .1, Fault: faultproxy.Drop()},
			faultproxy.Rule{Chance: .1, Fault: faultproxy.Deaf()},
			faultproxy.Rule{Chance: .05, Fault: faultproxy.Cut(4)},
			faultproxy.Rule{Chance: .05, Fault: faultproxy.Status(503, "", "")})
	}
	clean := pool(t, func(o *rpcpool.Options) { o.Timeout = 5 * time.Second }, way(1))
	s := newSender(t, clean, big.NewInt(1e18))
	p := pool(t, func(o *rpcpool.Options) { o.Quorum, o.Timeout = 2, 5*time.Second }, bad(2), bad(3), bad(4))
	const many = 30
	for nonce := range uint64(many) {
		raw, hash := s.tx(nonce, 10*gwei)
		for try := 0; ; try++ {
			if _, err := p.Broadcast(t.Context(), raw); err == nil {
				break
			} else if try > 20 {
				t.Fatal(err)
			}
		}
		var receipt *types.Receipt
		for try := 0; receipt == nil; try++ {
			if err := p.Agreed(t.Context(), &receipt, "eth_getTransactionReceipt", hash); err != nil && try > 20 {
				t.Fatal(err)
			}
		}
		if receipt.TxHash != hash || receipt.Status != types.ReceiptStatusSuccessful {
			t.Fatalf("%+v", receipt)
		}
	}
	var nonce hexutil.Uint64
	if err := clean.Call(t.Context(), &nonce, "eth_getTransactionCount", s.at, "latest"); err != nil || nonce != many {
		t.Errorf("nonce %d, %v", nonce, err)
	}
}

func TestRefusalsOnAnvil(t *testing.T) {
	p := pool(t, func(o *rpcpool.Options) { o.Timeout = 5 * time.Second }, anvil(t)(1))
	at := common.Address{7}
	// mstore(0, 0x0102); revert(30, 2)
	reverts := hexutil.MustDecode("0x6101026000526002601efd")
	if err := p.Call(t.Context(), nil, "anvil_setCode", at, hexutil.Bytes(reverts)); err != nil {
		t.Fatal(err)
	}
	call := map[string]any{"to": at}
	var e *rpcpool.Error
	err := p.Call(t.Context(), nil, "eth_call", call, "latest")
	if !errors.As(err, &e) || !e.Reverted() || hexutil.Encode(e.Data) != "0x0102" {
		t.Error(err)
	}
	for _, block := range []any{"0xffffff", map[string]any{"blockHash": common.Hash{1}}} {
		if err := p.Call(t.Context(), nil, "eth_call", call, block); !errors.As(err, &e) || e.Reverted() {
			t.Error(err)
		}
	}
	calls := make([]rpcpool.Call, 1000)
	out := make([]hexutil.Big, len(calls))
	for i := range calls {
		calls[i] = rpcpool.Call{Method: "eth_getBalance", Params: []any{at, "latest"}, Result: &out[i]}
	}
	if err := p.Batch(t.Context(), calls); err != nil {
		t.Error(err)
	}
	var block *types.Header
	if err := p.AgreedBlock(t.Context(), &block, "latest"); err != nil || block == nil || block.Number.Sign() != 0 {
		t.Error(block, err)
	}
}
