package adminrelay

import (
	"errors"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/quote/smartaccount"
)

// Caps of the gas limits of an admin's operation, in gas units. The operator pays for it, and it must fit into one
// transaction.
const (
	maxCallGas         = 8_000_000
	maxVerificationGas = 1_000_000
)

// reader collects every failure of a request's form.
type reader struct{ failures []api.Failure }

func (r *reader) fail(path, expected, got string) {
	r.failures = append(r.failures, api.Failure{Path: path, Expected: expected, Got: got})
}

// read reads a request that keeps the rules; what only the chain can tell comes later.
func (r *Relay) read(w api.RelayRequest) (q request, err error) {
	q.action = w.Action
	if q.chain, err = caip.ParseChain(w.Chain); err != nil {
		return q, err
	}
	if q.on, err = r.Network.ChainOf(q.chain); err != nil {
		return q, err
	}
	var unserved *smartaccount.Unserved
	q.account, err = smartaccount.Open(r.Network.Pins, w.Account)
	if errors.As(err, &unserved) {
		return q, api.NewValidationError([]api.Failure{unserved.Failure("account")})
	}
	if err != nil {
		return q, err
	}
	if q.action != api.AdminOperate {
		return q, q.readMessage(w)
	}
	var in reader
	in.operation(&q, w, r.Network.Pins.RoleBasedValidator)
	return q, api.NewValidationError(in.failures)
}

// readMessage reads what goes to the validator.
func (q *request) readMessage(w api.RelayRequest) (err error) {
	q.message = op.AdminMessage{Action: w.Action, Account: q.account.Address}
	if q.message.Nonce, err = amount.ParseBase(w.Nonce); err != nil {
		return err
	}
	if q.signature, err = hexutil.Decode(w.Signature); err != nil || w.Action != api.AdminRotateSession {
		return err
	}
	q.message.NewSession, err = caip.ParseAddress(w.NewSession)
	return err
}

// operation reads the operation that the admin signed alone: no fees, no paymaster, no factory, limits that fit into
// one transaction.
func (r *reader) operation(q *request, w api.RelayRequest, validator common.Address) {
	o, err := op.FromWire(*w.UserOp)
	var bad *op.Error
	if errors.As(err, &bad) {
		r.fail(bad.Field, bad.Want, bad.Got)
		return
	}
	q.userOp = o
	if o.Sender != q.account.Address {
		r.fail("userOp.sender", "the account, "+q.account.Address.Hex(), o.Sender.Hex())
	}
	if n, err := op.ParseNonce(o.Nonce); err != nil || n.Mode != 0 || n.Type != 0 || n.Validator != validator {
		r.fail("userOp.nonce", "a nonce with the role-based validator, mode 00 and type 00", o.Nonce.String())
	}
	if o.Factory != nil {
		r.fail("userOp.factory", "nothing: an account whose exit was announced is deployed", o.Factory.Hex())
	}
	if o.Paymaster != nil {
		r.fail("userOp.paymaster", "nothing: the operation pays no fees", o.Paymaster.Hex())
	}
	if o.MaxFeePerGas.Sign() != 0 || o.MaxPriorityFeePerGas.Sign() != 0 {
		r.fail("userOp.maxFeePerGas", "no fees", o.MaxFeePerGas.String()+" and "+o.MaxPriorityFeePerGas.String())
	}
	if !o.CallGasLimit.IsUint64() || o.CallGasLimit.Uint64() > maxCallGas {
		r.fail("userOp.callGasLimit", "at most "+strconv.Itoa(maxCallGas), o.CallGasLimit.String())
	}
	if !o.VerificationGasLimit.IsUint64() || o.VerificationGasLimit.Uint64() > maxVerificationGas {
		r.fail("userOp.verificationGasLimit", "at most "+strconv.Itoa(maxVerificationGas),
			o.VerificationGasLimit.String())
	}
	calls, err := op.DecodeExecute(o.CallData)
	if errors.As(err, &bad) {
		r.fail("userOp."+bad.Field, bad.Want, bad.Got)
	}
	for i, c := range calls {
		if c.To == o.Sender {
			r.fail("userOp.callData", "calls to others than the account itself", "call "+strconv.Itoa(i)+" to itself")
		}
	}
}
