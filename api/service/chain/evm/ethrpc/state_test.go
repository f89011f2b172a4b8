package ethrpc

import (
	"bytes"
	"context"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
)

// TestStateIsReadAtEveryNameOfABlock reads the same state by number, by tag, by hash and by both objects.
func TestStateIsReadAtEveryNameOfABlock(t *testing.T) {
	l := newLab(t)
	l.note(number(1))
	first := l.node.HeadHash()
	l.note(number(2))
	at := func(want uint64, names ...any) {
		t.Helper()
		for _, name := range names {
			l.is(`"`+number(want).Hex()+`"`, "eth_getStorageAt", notes.at, "0x0", name)
		}
	}
	at(0, "0x0", "earliest")
	at(1, "0x1", first, object{"blockNumber": "0x1"}, object{"blockHash": first},
		object{"blockHash": first, "requireCanonical": true})
	at(2, "0x2", "latest", "safe", "finalized", "pending", nil, object{"blockNumber": "latest"})
	l.is(`"`+number(2).Hex()+`"`, "eth_getStorageAt", notes.at, common.Hash{})
	l.is(`"0x1"`, "eth_getTransactionCount", addr(key(0)), "0x1")
	l.is(`"0x2"`, "eth_getTransactionCount", addr(key(0)), "pending")
	l.is(`"0x0"`, "eth_getBalance", addr(key(1)))
	l.is(`"0x`+notes.code+`"`, "eth_getCode", notes.at)
	l.is(`"0x"`, "eth_getCode", addr(key(1)), "latest")
	l.is(`{"balance":"0x0","nonce":"0x1","code":"0x`+notes.code+`"}`, "eth_getAccountInfo", notes.at, "latest")
	l.is(`{"balance":"0x0","nonce":"0x0","code":"0x"}`, "eth_getAccountInfo", addr(key(1)))
}

func TestCodeOfADelegatedAccountIsItsDelegation(t *testing.T) {
	l := newLab(t)
	l.everyType()
	l.is(`"0xef0100`+hexutil.Encode(echoes.at[:])[2:]+`"`, "eth_getCode", addr(key(1)), "latest")
}

func TestStateThatIsGoneIsAnErrorThatNamesTheWindow(t *testing.T) {
	l := newLab(t)
	for i := range uint64(130) {
		l.note(number(i))
	}
	l.call("eth_getBalance", addr(key(0)), "0x3")
	_, err := l.try(context.Background(), "eth_getBalance", addr(key(0)), "0x1")
	if err == nil || err.Code != -32000 || !bytes.Contains([]byte(err.Message), []byte("is not available")) {
		t.Errorf("%v", err)
	}
	l.call("eth_getBlockByNumber", "0x1", true)
}

// TestProofsLeadToTheStateRoot checks proofs with go-ethereum's verifier.
func TestProofsLeadToTheStateRoot(t *testing.T) {
	l := newLab(t)
	l.note(number(300))
	head := l.node.Head()
	p := into[Proof](t, l.call("eth_getProof", notes.at, []string{"0x0", common.Hash{}.Hex(), "0x7"}, "latest"))
	raw := prove(t, head.Root, p.Address[:], p.AccountProof)
	var account types.StateAccount
	if err := rlp.DecodeBytes(raw, &account); err != nil {
		t.Fatal(err)
	}
	if account.Root != p.StorageHash || !bytes.Equal(account.CodeHash, p.CodeHash[:]) || account.Nonce != 1 ||
		uint64(p.Nonce) != 1 || p.CodeHash != crypto.Keccak256Hash(common.FromHex(notes.code)) {
		t.Errorf("%+v proves %+v", p, account)
	}
	keys := []string{p.StorageProof[0].Key, p.StorageProof[1].Key, p.StorageProof[2].Key}
	if keys[0] != "0x0" || keys[1] != (common.Hash{}).Hex() || keys[2] != "0x7" {
		t.Errorf("keys %s", keys)
	}
	for i, want := range []int64{300, 300, 0} {
		s := p.StorageProof[i]
		slot := common.HexToHash(s.Key)
		var value []byte
		if raw := prove(t, p.StorageHash, slot[:], s.Proof); raw != nil {
			if err := rlp.DecodeBytes(raw, &value); err != nil {
				t.Fatal(err)
			}
		}
		if s.Value.ToInt().Int64() != want || new(big.Int).SetBytes(value).Int64() != want {
			t.Errorf("slot %s is %s, proven %x", s.Key, s.Value, value)
		}
	}
	none := into[Proof](t, l.call("eth_getProof", addr(key(9)), []string{}, nil))
	if prove(t, head.Root, none.Address[:], none.AccountProof) != nil || none.CodeHash != types.EmptyCodeHash ||
		none.StorageHash != types.EmptyRootHash {
		t.Errorf("%+v", none)
	}
	l.fails(-32602, "too many storage keys requested (max 1024, got 1025)", "eth_getProof", notes.at,
		make([]common.Hash, 1025), "latest")
}

func prove(t *testing.T, root common.Hash, key []byte, proof []hexutil.Bytes) []byte {
	t.Helper()
	db := rawdb.NewMemoryDatabase()
	for _, n := range proof {
		if err := db.Put(crypto.Keccak256(n), n); err != nil {
			t.Fatal(err)
		}
	}
	v, err := trie.VerifyProof(root, crypto.Keccak256(key), db)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
