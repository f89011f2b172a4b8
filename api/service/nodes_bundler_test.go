package service_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service"
	"coffer/api/service/bundler"
	"coffer/api/service/foreign"
	"coffer/api/service/quote/smartaccount"
)

// operator is a person whose account another library drives: it makes operations and sends them to the endpoint.
type operator struct {
	t       *testing.T
	url     string
	point   common.Address
	chainID uint64
	user    *foreign.User
	account smartaccount.Account
	nonce   *big.Int
}

func newOperator(t *testing.T) *operator {
	s, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0"})
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("an operator")))
	if err != nil {
		t.Fatal(err)
	}
	pins := s.Network().Pins
	user := foreign.New(pins, api.AccountKernelV31, foreign.Keys{Signer: key})
	account, err := smartaccount.Open(pins, user.Account)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Endow(t.Context(), []common.Address{user.Address}, false, nil); err != nil {
		t.Fatal(err)
	}
	return &operator{t: t, url: n.List[0].HTTP, point: pins.EntryPoint, chainID: n.List[0].ID, user: user,
		account: account, nonce: new(big.Int).Lsh(account.Key192(0), 64)}
}

// operation makes an operation of one call, with fees and without gas.
func (o *operator) operation(to common.Address, value int64, deploys bool) op.UserOp {
	data, err := op.EncodeExecute([]op.Call{{To: to, Value: big.NewInt(value)}})
	if err != nil {
		o.t.Fatal(err)
	}
	u := op.UserOp{Sender: o.user.Address, Nonce: new(big.Int).Set(o.nonce), CallData: data, CallGasLimit: new(big.Int),
		VerificationGasLimit: new(big.Int), PreVerificationGas: new(big.Int), MaxFeePerGas: big.NewInt(3e9),
		MaxPriorityFeePerGas: big.NewInt(1e9), Signature: o.account.StubSignature()}
	if factory, data, _ := o.account.Deployment(); deploys {
		u.Factory, u.FactoryData = &factory, data
	}
	return u
}

// ask calls a method and tells its result or its error.
func (o *operator) ask(method string, into any, params ...any) (code int, message string) {
	o.t.Helper()
	var a struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(rpc(o.t, o.url, method, params...)), &a); err != nil {
		o.t.Fatal(err)
	}
	if a.Error != nil {
		return a.Error.Code, a.Error.Message
	}
	if err := json.Unmarshal(a.Result, into); err != nil {
		o.t.Fatalf("%s: %s: %v", method, a.Result, err)
	}
	return 0, ""
}

// estimated fills in the gas that the endpoint estimates, and signs.
func (o *operator) estimated(u op.UserOp) op.UserOp {
	o.t.Helper()
	var e struct {
		PreVerificationGas, VerificationGasLimit, CallGasLimit *hexutil.Big
	}
	if code, message := o.ask("eth_estimateUserOperationGas", &e, bundler.Shown(u), o.point); code != 0 {
		o.t.Fatalf("estimate: %d %s", code, message)
	}
	u.PreVerificationGas, u.VerificationGasLimit = e.PreVerificationGas.ToInt(), e.VerificationGasLimit.ToInt()
	u.CallGasLimit = e.CallGasLimit.ToInt()
	return o.signed(u)
}

func (o *operator) signed(u op.UserOp) op.UserOp {
	o.t.Helper()
	sig, err := op.Sign(op.EIP191(o.hash(u)), o.user.Key)
	if err != nil {
		o.t.Fatal(err)
	}
	u.Signature = sig
	return u
}

func (o *operator) hash(u op.UserOp) common.Hash {
	o.t.Helper()
	h, err := u.Hash(o.point, new(big.Int).SetUint64(o.chainID))
	if err != nil {
		o.t.Fatal(err)
	}
	return h
}

func (o *operator) send(u op.UserOp) (code int, message string) {
	o.t.Helper()
	var hash common.Hash
	code, message = o.ask("eth_sendUserOperation", &hash, bundler.Shown(u), o.point)
	if code == 0 {
		if hash != o.hash(u) {
			o.t.Errorf("the hash is %s, expected %s", hash, o.hash(u))
		}
		o.nonce.Add(o.nonce, big.NewInt(1))
	}
	return code, message
}

func TestAnOperationIsEstimatedSubmittedAndFoundAgain(t *testing.T) {
	o := newOperator(t)
	to := common.Address{0x77, 1}
	u := o.estimated(o.operation(to, 5, true))
	if code, message := o.send(u); code != 0 {
		t.Fatal(code, message)
	}
	if got := result(t, o.url, "eth_getBalance", to); got != "0x5" {
		t.Errorf("the recipient has %s", got)
	}
	var receipt struct {
		Success bool
		Sender  common.Address
		Logs    []json.RawMessage
		Receipt struct{ TransactionHash common.Hash }
	}
	var found struct {
		UserOperation   bundler.Operation
		TransactionHash common.Hash
	}
	var status struct {
		Status          string
		TransactionHash common.Hash
	}
	o.ask("eth_getUserOperationReceipt", &receipt, o.hash(u))
	o.ask("eth_getUserOperationByHash", &found, o.hash(u))
	o.ask("pimlico_getUserOperationStatus", &status, o.hash(u))
	if !receipt.Success || receipt.Sender != u.Sender || len(receipt.Logs) == 0 ||
		receipt.Receipt.TransactionHash != found.TransactionHash || status.Status != "included" ||
		status.TransactionHash != found.TransactionHash || found.UserOperation.Sender != u.Sender ||
		string(found.UserOperation.CallData) != string(u.CallData) {
		t.Errorf("receipt %+v, found %+v, status %+v", receipt, found, status)
	}
	var none any = "something"
	if o.ask("eth_getUserOperationReceipt", &none, common.Hash{1}); none != nil {
		t.Errorf("an unknown operation has %v", none)
	}
	if code, message := o.send(o.estimated(o.operation(to, 6, false))); code != 0 {
		t.Errorf("the second operation: %d %s", code, message)
	}
}

func TestAnOperationThatTheEntryPointRefusesLeavesNothing(t *testing.T) {
	o := newOperator(t)
	good := o.estimated(o.operation(common.Address{0x77, 2}, 5, true))
	head := result(t, o.url, "eth_blockNumber")
	for name, c := range map[string]struct {
		code   int
		text   string
		change func(*op.UserOp)
		resign bool
	}{
		"a wrong signature": {-32507, "AA24", func(u *op.UserOp) { u.MaxFeePerGas = big.NewInt(4e9) }, false},
		"a nonce to come": {-32500, "AA25", func(u *op.UserOp) {
			u.Nonce = new(big.Int).Add(u.Nonce, big.NewInt(3))
		}, true},
		"too little gas for validation": {-32500, "AA", func(u *op.UserOp) {
			u.VerificationGasLimit = big.NewInt(20_000)
		}, true},
		"fees that do not cover the gas": {-32602, "preVerificationGas too low", func(u *op.UserOp) {
			u.MaxFeePerGas, u.MaxPriorityFeePerGas = big.NewInt(1), big.NewInt(1)
		}, true},
		"no account": {-32500, "AA20", func(u *op.UserOp) { u.Factory, u.FactoryData = nil, nil }, true},
	} {
		u := good
		c.change(&u)
		if c.resign {
			u = o.signed(u)
		}
		if code, message := o.send(u); code != c.code || !strings.Contains(message, c.text) {
			t.Errorf("%s: %d %s", name, code, message)
		}
	}
	if got := result(t, o.url, "eth_blockNumber"); got != head {
		t.Errorf("the head moved from %s to %s", head, got)
	}
	code, message := o.ask("eth_sendUserOperation", new(any), bundler.Shown(good), common.Address{1})
	if code != -32602 || !strings.Contains(message, "not supported") {
		t.Errorf("another entry point: %d %s", code, message)
	}
}

func TestAnEstimateTellsWhatWouldFail(t *testing.T) {
	o := newOperator(t)
	u := o.operation(common.Address{0x77, 3}, 1, true)
	too := u
	much := new(big.Int).Lsh(big.NewInt(1), 90)
	too.CallData, _ = op.EncodeExecute([]op.Call{{To: common.Address{0x77, 3}, Value: much}})
	if code, message := o.ask("eth_estimateUserOperationGas", new(any), bundler.Shown(too), o.point); code != -32521 {
		t.Errorf("more than there is: %d %s", code, message)
	}
	u.Factory, u.FactoryData = nil, nil
	if code, message := o.ask("eth_estimateUserOperationGas", new(any), bundler.Shown(u), o.point); code != -32500 ||
		!strings.Contains(message, "AA20") {
		t.Errorf("no account: %d %s", code, message)
	}
}
