package evm

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/assets"
)

const (
	genesisTime = 1_760_000_000
	supply      = 1_000_000_000_000
)

// chainIDs are chains of the product.
func chainIDs() []uint64 { return []uint64{1, 10, 137, 8453, 42161, 43114, 59144} }

// key derives a test key from a number.
func key(n int) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte(fmt.Sprintf("test key %d", n))))
	if err != nil {
		panic(err)
	}
	return k
}

func addr(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }

// treasury owns all native coins and tokens of the test genesis.
func treasury() *ecdsa.PrivateKey { return key(0) }

func tokenAt(i int) common.Address {
	return common.BytesToAddress(crypto.Keccak256([]byte(fmt.Sprintf("token %d", i))))
}

func contract(tb testing.TB, name string) (abi.ABI, []byte) {
	tb.Helper()
	a, err := assets.Contract(name)
	if err != nil {
		tb.Fatal(err)
	}
	parsed, err := abi.JSON(bytes.NewReader(a.ABI))
	if err != nil {
		tb.Fatal(err)
	}
	return parsed, a.Bytecode
}

// initCode is a contract's init code with its encoded arguments.
func initCode(tb testing.TB, name string, args ...any) []byte {
	tb.Helper()
	a, code := contract(tb, name)
	packed, err := a.Pack("", args...)
	if err != nil {
		tb.Fatal(err)
	}
	return append(bytes.Clone(code), packed...)
}

func predeployed(tb testing.TB, code []byte, at common.Address) []Account {
	tb.Helper()
	out, err := Predeploy(code, at, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// alloc is a genesis like the product's: EntryPoint, validators, accounts,
// filler, escrow and twelve tokens, about twenty contracts.
func alloc(tb testing.TB) []Account {
	tb.Helper()
	owner := addr(treasury())
	out := []Account{{Address: owner, Balance: new(big.Int).Lsh(big.NewInt(1), 120)}}
	ep, err := DeployDeterministic(initCode(tb, "EntryPoint"), entryPointSalt())
	if err != nil {
		tb.Fatal(err)
	}
	out = append(out, ep...)
	at := func(n byte) common.Address { return common.BytesToAddress([]byte{0xc0, 0xff, n}) }
	entryPoint := ep[0].Address
	for _, name := range assets.KernelNames() {
		made, err := DeployDeterministic(initCode(tb, name), common.Hash{})
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, made...)
	}
	out = append(out, predeployed(tb, initCode(tb, "RoleBasedECDSAValidator"), at(2))...)
	out = append(out, predeployed(tb, initCode(tb, "Filler", entryPoint, owner), at(7))...)
	out = append(out, predeployed(tb, initCode(tb, "Escrow", at(7), []common.Address{owner}, big.NewInt(1),
		[32]byte{}), at(8))...)
	for i := range 12 {
		code := initCode(tb, "Token", fmt.Sprintf("Token %d", i), fmt.Sprintf("T%d", i), uint8(6), owner,
			big.NewInt(supply))
		out = append(out, predeployed(tb, code, tokenAt(i))...)
	}
	return out
}

func entryPointSalt() common.Hash {
	return common.HexToHash("0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3")
}

func testSpec(tb testing.TB, id uint64) Spec {
	return Spec{ChainID: id, Alloc: alloc(tb), Time: genesisTime}
}

func openTest(tb testing.TB, s store.Store, spec Spec) *Chain {
	tb.Helper()
	c, err := Open(s, spec)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func memoryChain(tb testing.TB) *Chain {
	tb.Helper()
	return openTest(tb, store.NewMemory(), testSpec(tb, 8453))
}

func boltStore(tb testing.TB, path string) store.Store {
	tb.Helper()
	s, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

func boltChain(tb testing.TB) *Chain {
	tb.Helper()
	return openTest(tb, boltStore(tb, filepath.Join(tb.TempDir(), "chain.db")), testSpec(tb, 8453))
}

// seal makes one block at one second after the head.
func seal(tb testing.TB, c *Chain, txs ...chain.Tx) chain.Block {
	tb.Helper()
	b, err := c.Seal(context.Background(), chain.SealRequest{Time: c.Head().Time + 1, Txs: txs})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func pay(from *ecdsa.PrivateKey, to common.Address, wei int64) chain.Tx {
	return chain.Tx{From: signers.Local(from), To: to, Value: big.NewInt(wei), Gas: 21_000}
}

func pack(tb testing.TB, name, method string, args ...any) []byte {
	tb.Helper()
	a, _ := contract(tb, name)
	data, err := a.Pack(method, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func sendToken(tb testing.TB, from *ecdsa.PrivateKey, token, to common.Address, amount int64) chain.Tx {
	tb.Helper()
	return chain.Tx{From: signers.Local(from), To: token, Gas: 200_000,
		Data: pack(tb, "Token", "transfer", to, big.NewInt(amount))}
}

func tokenBalance(tb testing.TB, st chain.State, token, of common.Address) *big.Int {
	tb.Helper()
	res := st.Call(chain.Message{To: token, Data: pack(tb, "Token", "balanceOf", of), Gas: 100_000})
	if res.Err != nil {
		tb.Fatal(res.Err)
	}
	return new(big.Int).SetBytes(res.Return)
}

func stateOf(tb testing.TB, c *Chain) chain.State {
	tb.Helper()
	st, err := c.State(context.Background(), 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(st.Close)
	return st
}

// authorize signs an EIP-7702 authorization with go-ethereum's own signer.
func authorize(tb testing.TB, k *ecdsa.PrivateKey, chainID uint64, delegate common.Address,
	nonce uint64) op.SignedAuthorization {
	tb.Helper()
	s, err := types.SignSetCode(k, types.SetCodeAuthorization{
		ChainID: *uint256.NewInt(chainID), Address: delegate, Nonce: nonce,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return op.SignedAuthorization{
		Authorization: op.Authorization{ChainID: new(big.Int).SetUint64(chainID), Address: delegate, Nonce: nonce},
		R:             s.R.Bytes32(), S: s.S.Bytes32(), YParity: s.V,
	}
}

func auths(a ...op.SignedAuthorization) []op.SignedAuthorization { return a }
