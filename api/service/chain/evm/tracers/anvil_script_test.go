package tracers

import (
	"crypto/ecdsa"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"coffer/api/service/chain/evm"
)

var (
	keys  = makeKeys()
	funds = new(big.Int).Mul(big.NewInt(1e18), big.NewInt(1000))
)

// makeKeys returns those of the accounts that send.
func makeKeys() (out []*ecdsa.PrivateKey) {
	for i := range 8 {
		out = append(out, must(crypto.ToECDSA(crypto.Keccak256(fmt.Append(nil, "sender ", i)))))
	}
	return out
}

func addressOf(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }

// script chooses at random what is asked of both nodes.
type script struct {
	*pair
	r         *rand.Rand
	contracts []common.Address
	nonces    map[common.Address]uint64
	sent      int
}

func newScript(p *pair, seed uint64) *script {
	//nolint:gosec // a test that can be run again
	return &script{pair: p, r: rand.New(rand.NewPCG(seed, seed)), nonces: map[common.Address]uint64{}}
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (s *script) bytes(most int) []byte {
	out := make([]byte, s.r.IntN(most+1))
	for i := range out {
		out[i] = one(s.r, 0, byte(s.r.Uint32()))
	}
	return out
}

// anyone is an account of any kind, or none.
func (s *script) anyone() common.Address {
	switch n := s.r.IntN(20); {
	case n < 13 && len(s.contracts) > 0:
		return one(s.r, s.contracts...)
	case n < 16:
		return addressOf(one(s.r, keys...))
	case n < 18:
		return common.BigToAddress(big.NewInt(int64(1 + s.r.IntN(17)))) // precompiled
	case n < 19:
		return common.HexToAddress("0x100") // P256VERIFY
	}
	return common.BigToAddress(big.NewInt(int64(0xdead00 + s.r.IntN(4))))
}

// transaction sends one to both: mostly good, sometimes not.
func (s *script) transaction() {
	s.sent++
	key := one(s.r, keys...)
	from := addressOf(key)
	nonce := s.nonces[from]
	to := s.anyone()
	d := &draft{
		kind: one(s.r, byte(types.LegacyTxType), types.AccessListTxType, types.DynamicFeeTxType, types.DynamicFeeTxType,
			types.SetCodeTxType),
		id: 77, nonce: nonce, to: &to, gas: uint64(80_000 + s.r.IntN(500_000)), data: s.bytes(100),
		fee: big.NewInt(20e9), tip: big.NewInt(s.r.Int64N(3e9)), value: big.NewInt(one(s.r, 0, 0, s.r.Int64N(1e6))),
	}
	if s.r.IntN(3) == 0 {
		d.list = types.AccessList{{Address: s.anyone(), StorageKeys: []common.Hash{{31: byte(s.r.IntN(4))}}}}
	}
	if d.kind != types.SetCodeTxType && (s.r.IntN(8) == 0 || s.sent <= 20) {
		d.to, d.data, d.gas = nil, deployed(s.program()), d.gas+500_000
		if s.r.IntN(6) == 0 {
			d.data = s.initCode()
		}
	}
	for range 1 + s.r.IntN(2) {
		if d.kind == types.SetCodeTxType {
			d.auths = append(d.auths, s.authorization(key, nonce))
		}
	}
	what := "good"
	if s.balance(from).Cmp(big.NewInt(1e18)) < 0 { // a contract was its code, and gave all away
		what, key, to = "new funds", keys[0], from
		d = &draft{kind: types.DynamicFeeTxType, id: 77, nonce: s.nonces[addressOf(key)], to: &to, gas: 500_000,
			fee: big.NewInt(20e9), tip: big.NewInt(1), value: big.NewInt(5e18)}
	}
	if what == "good" && s.sent > 20 && s.r.IntN(6) == 0 {
		what = s.spoil(d)
	}
	what = fmt.Sprintf("transaction %d (type %d, %s)", s.sent, d.kind, what)
	tx := must(types.SignNewTx(key, types.LatestSignerForChainID(new(big.Int).SetUint64(d.id)), d.make()))
	if d.unprotected {
		tx = must(types.SignNewTx(key, types.HomesteadSigner{}, d.make()))
	}
	raw := must(tx.MarshalBinary())
	if s.r.IntN(50) == 0 {
		what, raw = what+" cut off", raw[:s.r.IntN(len(raw))]
	}
	receipt := s.send(what, raw, tx.Hash(), tx.Gas())
	if receipt == nil {
		return
	}
	s.count[fmt.Sprintf("sealed: type %d, status %d", tx.Type(), receipt.Status)]++
	if receipt.ContractAddress != (common.Address{}) && receipt.Status == 1 {
		s.contracts = append(s.contracts, receipt.ContractAddress)
	}
	for _, k := range keys { // an authorization counts a nonce too
		s.nonces[addressOf(k)] = s.quantity("eth_getTransactionCount", addressOf(k)).Uint64()
	}
}

func (s *script) balance(a common.Address) *big.Int { return s.quantity("eth_getBalance", a) }

func (s *script) quantity(method string, of common.Address) *big.Int {
	var n hexutil.Big
	if err := n.UnmarshalJSON(s.ours(method, of, "latest").Result); err != nil {
		s.t.Fatal(err)
	}
	return n.ToInt()
}

// draft is a transaction of any type before it is signed.
type draft struct {
	kind        byte
	id          uint64
	nonce, gas  uint64
	to          *common.Address
	value       *big.Int
	fee, tip    *big.Int
	data        []byte
	list        types.AccessList
	auths       []types.SetCodeAuthorization
	unprotected bool
}

func (d *draft) make() types.TxData {
	id := new(big.Int).SetUint64(d.id)
	switch d.kind {
	case types.LegacyTxType:
		return &types.LegacyTx{Nonce: d.nonce, GasPrice: d.fee, Gas: d.gas, To: d.to, Value: d.value, Data: d.data}
	case types.AccessListTxType:
		return &types.AccessListTx{ChainID: id, Nonce: d.nonce, GasPrice: d.fee, Gas: d.gas, To: d.to, Value: d.value,
			Data: d.data, AccessList: d.list}
	case types.DynamicFeeTxType:
		return &types.DynamicFeeTx{ChainID: id, Nonce: d.nonce, GasFeeCap: d.fee, GasTipCap: d.tip, Gas: d.gas,
			To: d.to, Value: d.value, Data: d.data, AccessList: d.list}
	}
	return &types.SetCodeTx{ChainID: uint256.MustFromBig(id), Nonce: d.nonce, GasFeeCap: uint256.MustFromBig(d.fee),
		GasTipCap: uint256.MustFromBig(d.tip), Gas: d.gas, To: *d.to, Value: uint256.MustFromBig(d.value), Data: d.data,
		AccessList: d.list, AuthList: d.auths}
}

// spoil gives a transaction one fault.
func (s *script) spoil(d *draft) string {
	faults := map[string]func(){
		"a nonce that was used":   func() { d.nonce = max(d.nonce, 1) - 1 },
		"more value than funds":   func() { d.value = new(big.Int).Add(funds, big.NewInt(s.r.Int64N(1e18))) },
		"less gas than intrinsic": func() { d.gas = uint64(s.r.IntN(21_000)) },
		"less gas than the floor": func() {
			d.data, d.gas, d.list, d.auths = slices.Repeat([]byte{1}, 2000), 60_000, nil, d.auths[:min(1, len(d.auths))]
		},
		"more gas than one may have": func() { d.gas = evm.MaxTxGas + 1 },
		"more gas than a block":      func() { d.gas, d.fee, d.tip = evm.GasLimit+1, big.NewInt(1e9), new(big.Int) },
		"another chain's id":         func() { d.id = 78 },
		"a tip above the fee":        func() { d.kind, d.auths, d.tip = types.DynamicFeeTxType, nil, big.NewInt(21e9) },
		"init code that is too long": func() {
			d.to, d.kind, d.auths, d.gas, d.data = nil, types.DynamicFeeTxType, nil, 3e6, make([]byte, 49_153)
		},
		"no replay protection":        func() { d.kind, d.auths, d.unprotected = types.LegacyTxType, nil, true },
		"no authorization":            func() { d.kind, d.auths, d.to = types.SetCodeTxType, nil, &common.Address{1} },
		"the last nonce":              func() { d.nonce = 1<<64 - 1 },
		"no gas for what it does":     func() { d.gas = 53_500 + uint64(s.r.IntN(2000)) },
		"more data than a pool takes": func() { d.data, d.gas = make([]byte, 140_000), 3e6 },
	}
	names := []string{}
	for name := range faults {
		names = append(names, name)
	}
	slices.Sort(names)
	name := one(s.r, names...)
	faults[name]()
	return name
}

func (s *script) authorization(sender *ecdsa.PrivateKey, nonce uint64) types.SetCodeAuthorization {
	k := one(s.r, keys[1:]...) // the first has the money
	id := uint256.NewInt(one[uint64](s.r, 0, 77, 77, 77, 78))
	a := types.SetCodeAuthorization{ChainID: *id, Address: s.anyone()}
	if s.r.IntN(4) == 0 {
		a.Address = common.Address{} // ends it
	}
	if a.Nonce = s.nonces[addressOf(k)]; k == sender {
		a.Nonce = nonce + 1
	}
	if s.r.IntN(6) == 0 {
		a.Nonce += 2
	}
	return must(types.SignSetCode(k, a))
}

// read asks for something of the state. Calls have a price: without one BASEFEE is zero in go-ethereum, and the block's
// on anvil.
func (s *script) read() {
	at, slot := s.anyone(), common.Hash{31: byte(s.r.IntN(4))}
	message := map[string]any{"from": addressOf(one(s.r, keys...)), "to": at, "input": hexutil.Bytes(s.bytes(100)),
		"gas": hexutil.Uint64(100_000 + s.r.IntN(300_000)), "gasPrice": hexutil.Uint64(evm.GenesisBaseFee)}
	if s.r.IntN(3) == 0 {
		message["value"] = hexutil.Uint64(s.r.Uint64N(1000))
	}
	if s.r.IntN(30) == 0 {
		message["value"] = (*hexutil.Big)(new(big.Int).Lsh(funds, 1))
	}
	if s.r.IntN(30) == 0 {
		message["gas"] = hexutil.Uint64(s.r.IntN(21_000))
	}
	switch s.r.IntN(11) {
	case 0:
		s.both("a read", "eth_getBalance", at, "latest")
	case 1:
		s.both("a read", "eth_getCode", at, "latest")
	case 2:
		s.both("a read", "eth_getStorageAt", at, slot, "latest")
	case 3:
		s.both("a read", "eth_getTransactionCount", at, "latest")
	case 4:
		s.both("a read", "eth_getProof", at, []common.Hash{slot}, "latest")
	case 5:
		s.both("a read", "eth_getLogs", map[string]any{"fromBlock": "latest", "toBlock": "latest"})
	case 6:
		s.both("a read", "eth_getBlockByNumber", "latest", s.r.IntN(2) == 0)
	case 7:
		s.both("a trace of a call of "+at.Hex(), "debug_traceCall", message, "latest",
			json.RawMessage(withLogs))
	case 8:
		s.estimate("a call of "+at.Hex(), message)
	default:
		s.both("a call of "+at.Hex(), "eth_call", message, "latest")
	}
}

// estimate asks both nodes what a call needs. How they search is their own, but what one found is enough for the other.
func (s *script) estimate(what string, message map[string]any) {
	ours, theirs := s.ours("eth_estimateGas", message), s.anvil("eth_estimateGas", message)
	if ours.Error != nil || theirs.Error != nil {
		s.compare(what, "eth_estimateGas", ours, theirs)
		return
	}
	s.count["answered: eth_estimateGas"]++
	message["gas"] = ours.Result
	if a := s.anvil("eth_call", message, "latest"); a.Error != nil {
		s.differ("%s: anvil says that our estimate %s is not enough: %s", what, ours, a)
	}
	message["gas"] = theirs.Result
	a := s.ours("eth_call", message, "latest")
	if a.Error != nil && !s.known("eth_estimateGas", "enough", ours, theirs) {
		s.differ("%s: anvil's estimate %s is not enough: %s", what, theirs, a)
	}
}

// deployed is init code that leaves a contract behind.
func deployed(code []byte) []byte {
	size := binary.BigEndian.AppendUint16(nil, uint16(len(code)))
	init := program(vm.PUSH2, size[0], size[1], vm.DUP1, vm.PUSH1, 11, vm.PUSH0, vm.CODECOPY, vm.PUSH0, vm.RETURN)
	return append(append(init, byte(vm.STOP)), code...)
}

// initCode is a constructor of at most 32 bytes.
func (s *script) initCode() []byte {
	return one(s.r,
		program(vm.CALLER, vm.SELFDESTRUCT),
		program(vm.PUSH1, 7, vm.PUSH1, 1, vm.SSTORE, vm.STOP),
		program(vm.PUSH1, 32, vm.PUSH0, vm.REVERT),
		program(vm.INVALID),
		program(vm.PUSH1, 0xef, vm.PUSH0, vm.MSTORE8, vm.PUSH1, 1, vm.PUSH0, vm.RETURN), // no code may begin so
		program(vm.PUSH2, 0x60, 1, vm.PUSH0, vm.RETURN),                                 // too long
		program(vm.PUSH1, byte(vm.CALLER), vm.PUSH0, vm.MSTORE8, vm.PUSH1, byte(vm.SELFDESTRUCT), vm.PUSH1, 1,
			vm.MSTORE8, vm.PUSH1, 2, vm.PUSH0, vm.RETURN),
		program(vm.PUSH1, 9, vm.PUSH1, 2, vm.SSTORE, vm.PUSH0, vm.PUSH0, vm.LOG0, vm.PUSH1, 3, vm.PUSH0, vm.RETURN),
	)
}

// program is the code of a contract: some pieces and an end.
func (s *script) program() (code []byte) {
	// three words of what it was given, and a number
	code = program(vm.PUSH1, 96, vm.PUSH0, vm.PUSH0, vm.CALLDATACOPY, vm.PUSH1, s.small(256), vm.PUSH1, 32, vm.MSTORE)
	for range 1 + s.r.IntN(8) {
		code = append(code, s.piece()...)
	}
	return append(code, s.end()...)
}

// small is a number that fits in a byte.
func (s *script) small(below int) int { return s.r.IntN(below) }

func (s *script) piece() []byte {
	slot := s.small(4)
	switch s.r.IntN(16) {
	case 0:
		return program(vm.PUSH1, s.small(3), vm.PUSH1, slot, vm.SSTORE)
	case 1:
		return program(vm.GAS, vm.PUSH1, slot, vm.SSTORE)
	case 2:
		return program(vm.PUSH1, slot, vm.SLOAD, vm.PUSH1, 1, vm.ADD, vm.DUP1, vm.PUSH1, slot, vm.SSTORE,
			vm.PUSH1, 64, vm.MSTORE)
	case 3:
		return program(vm.PUSH1, slot, vm.TLOAD, vm.CALLVALUE, vm.ADD, vm.DUP1, vm.PUSH1, slot, vm.TSTORE,
			vm.PUSH1, slot, vm.SSTORE)
	case 4, 5:
		n := s.r.IntN(5)
		var out []byte
		for range n {
			out = append(out, program(vm.PUSH1, s.small(256))...)
		}
		return append(out, program(vm.PUSH1, s.small(100), vm.PUSH1, s.small(40), int(vm.LOG0)+n)...)
	case 6:
		of := one(s.r, vm.ADDRESS, vm.CALLER, vm.ORIGIN, vm.CALLVALUE, vm.SELFBALANCE, vm.CHAINID, vm.GASLIMIT,
			vm.COINBASE, vm.BLOBBASEFEE, vm.CODESIZE, vm.CALLDATASIZE, vm.RETURNDATASIZE, vm.MSIZE, vm.PC, vm.GAS,
			vm.NUMBER, vm.TIMESTAMP, vm.BASEFEE, vm.GASPRICE)
		return program(of, vm.PUSH1, s.small(64), vm.MSTORE)
	case 7:
		of := one(s.r, vm.BALANCE, vm.EXTCODESIZE, vm.EXTCODEHASH)
		return append(s.address(), program(of, vm.PUSH1, s.small(64), vm.MSTORE)...)
	case 8:
		return program(vm.PUSH1, s.small(100), vm.PUSH1, s.small(32), vm.KECCAK256, vm.DUP1, 0x1e, vm.ADD,
			vm.PUSH1, s.small(64), vm.MSTORE)
	case 9:
		return program(vm.PUSH1, s.small(70), vm.PUSH1, s.small(70), vm.PUSH1, s.small(70), vm.MCOPY)
	case 10: // a part of what was returned, or more than that
		return program(vm.PUSH1, one(s.r, 0, 0, 0, 1), vm.RETURNDATASIZE, vm.ADD, vm.PUSH0, vm.PUSH1, s.small(64),
			vm.RETURNDATACOPY)
	case 11:
		return s.creation()
	}
	return s.call()
}

func (s *script) address() []byte {
	a := s.anyone()
	if s.r.IntN(12) == 0 {
		return program(vm.ADDRESS)
	}
	return append(program(vm.PUSH20), a[:]...)
}

// call makes one with some of the memory, and notes how it ended.
func (s *script) call() []byte {
	op := one(s.r, vm.CALL, vm.CALL, vm.CALL, vm.CALLCODE, vm.DELEGATECALL, vm.DELEGATECALL, vm.STATICCALL)
	out := program(vm.PUSH1, s.small(64), vm.PUSH1, s.small(64), vm.PUSH1, s.small(128), vm.PUSH1, s.small(32))
	if op == vm.CALL || op == vm.CALLCODE {
		out = append(out, program(vm.PUSH1, one(s.r, 0, 0, s.small(256)))...)
	}
	out = append(out, s.address()...)
	out = append(out, one(s.r, program(vm.GAS), program(vm.PUSH3, s.small(2), s.small(256), 0))...)
	return append(out, program(op, vm.PUSH1, s.small(64), vm.MSTORE)...)
}

func (s *script) creation() []byte {
	init := s.initCode()
	out := append(program(int(vm.PUSH1)+len(init)-1), init...)
	out = append(out, program(vm.PUSH0, vm.MSTORE)...)
	salt, op := []byte{}, vm.CREATE
	if s.r.IntN(2) == 0 {
		salt, op = program(vm.PUSH1, s.small(3)), vm.CREATE2
	}
	out = append(append(out, salt...), program(vm.PUSH1, len(init), vm.PUSH1, 32-len(init),
		vm.PUSH1, one(s.r, 0, 0, 1), op, vm.DUP1, vm.PUSH1, 64, vm.MSTORE)...)
	// and a call of what was made
	return append(out, program(vm.PUSH0, vm.PUSH0, vm.PUSH0, vm.PUSH0, vm.PUSH0, vm.SWAP5, vm.PUSH2, 0x20, 0, vm.CALL,
		vm.POP)...)
}

func (s *script) end() []byte {
	switch s.r.IntN(24) {
	case 0:
		return program(vm.PUSH1, s.small(100), vm.PUSH0, vm.REVERT)
	case 1:
		text := must(abi.NewType("string", "", nil))
		return s.revert("Error(string)", must(abi.Arguments{{Type: text}}.Pack(one(s.r, "not today", "", "no \"€\""))))
	case 2:
		return s.revert("Panic(uint256)", common.LeftPadBytes([]byte{one[byte](s.r, 1, 0x11, 0x12, 0x32, 0x77)}, 32))
	case 3:
		return s.revert("Custom(address)", common.LeftPadBytes([]byte{1}, 32))
	case 4:
		return one(s.r, program(vm.INVALID), program(0x0c), program(vm.POP, vm.POP), program(vm.PUSH1, 3, vm.JUMP),
			program(vm.PUSH4, 255, 255, 255, 255, vm.MLOAD), program(vm.PUSH0, vm.PUSH0, vm.REVERT))
	case 5:
		return append(s.address(), byte(vm.SELFDESTRUCT))
	case 6:
		return program(vm.PC, vm.JUMPDEST, vm.DUP1, vm.PUSH1, 1, vm.ADD, vm.JUMP) // until the gas or the stack ends
	case 7, 8, 9:
		return program(vm.STOP)
	}
	return program(vm.PUSH1, s.small(100), vm.PUSH0, vm.RETURN)
}

// revert puts an error's words into memory, from behind so that the selector remains.
func (s *script) revert(signature string, args []byte) []byte {
	data := append(crypto.Keccak256([]byte(signature))[:4], args...)
	size := len(data)
	var out []byte
	for i := 0; i < size; i += 32 {
		word := common.RightPadBytes(data[i:min(i+32, size)], 32)
		out = append(append(append(out, byte(vm.PUSH32)), word...), program(vm.PUSH1, i, vm.MSTORE)...)
	}
	return append(out, program(vm.PUSH1, size, vm.PUSH0, vm.REVERT)...)
}
