package evm_test

import (
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

// After genesis nobody mints and nobody burns (protocol §5.3).
func TestTokenSumNeverChanges(t *testing.T) {
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(3, 3))
	keys := []*ecdsa.PrivateKey{w.treasury, w.operator, w.relayer, key("thief")}
	holders := []common.Address{w.token.at, w.factory.at, w.entryPoint.at}
	for _, k := range keys {
		holders = append(holders, addressOf(k))
	}
	pick := func() common.Address { return holders[rnd.IntN(len(holders))] }
	done := 0
	for range 80 {
		amount := big.NewInt(rnd.Int64N(tokenSupply / 2))
		var data []byte
		switch rnd.IntN(3) {
		case 0:
			data = w.pack(w.token, "transfer", pick(), amount)
		case 1:
			data = w.pack(w.token, "approve", pick(), amount)
		case 2:
			data = w.pack(w.token, "transferFrom", pick(), pick(), amount)
		}
		if w.transact(chain.Tx{From: signers.Local(keys[rnd.IntN(len(keys))]), To: w.token.at, Data: data}).Success {
			done++
		}
		sum := int64(0)
		for _, h := range holders {
			sum += w.tokens(h)
		}
		if sum != tokenSupply || get[*big.Int](w, w.token, "totalSupply").Int64() != tokenSupply {
			t.Fatalf("the sum is %d", sum)
		}
	}
	if done < 20 {
		t.Fatalf("only %d calls did something", done)
	}
	w.refuse("ERC20InvalidReceiver(", w.treasury, w.token, 0, "transfer", common.Address{}, big.NewInt(1))
	writes := map[string]bool{}
	for _, m := range w.abis["Token"].Methods {
		if !m.IsConstant() {
			writes[m.Name] = true
		}
	}
	if len(writes) != 3 || !writes["transfer"] || !writes["approve"] || !writes["transferFrom"] {
		t.Fatalf("the token has other functions: %v", writes)
	}
}

// prepare credits a balance in its slot for a simulation (protocol §2.3).
func TestTokenBalanceIsInTheSlotThatSimulationsWrite(t *testing.T) {
	w := newWorld(t)
	who := addressOf(key("user"))
	slot := crypto.Keccak256Hash(common.LeftPadBytes(who[:], 32), make([]byte, 32))
	w.give(who, 123, 0)
	if got := w.slot(w.token.at, slot).Big().Int64(); got != 123 {
		t.Fatalf("slot %d", got)
	}
	st := w.state()
	defer st.Close()
	st.Apply(chain.Overlay{w.token.at: {Storage: map[common.Hash]common.Hash{slot: common.BigToHash(big.NewInt(456))}}})
	res := st.Call(chain.Message{From: who, To: w.token.at,
		Data: w.pack(w.token, "transfer", w.factory.at, big.NewInt(456))})
	if res.Err != nil {
		t.Fatal(w.decode(res.Return))
	}
}

func TestTokenTellsNameSymbolAndDecimals(t *testing.T) {
	w := newWorld(t)
	for method, want := range map[string]any{"name": "USD Coin", "symbol": "USDC", "decimals": uint8(6)} {
		if got := w.read(w.token, method)[0]; got != want {
			t.Errorf("%s is %v", method, got)
		}
	}
}
