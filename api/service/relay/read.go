package relay

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/quote/account"
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
	if got == "" {
		got = "nothing"
	}
	r.failures = append(r.failures, api.Failure{Path: path, Expected: expected, Got: got})
}

// absent refuses a member that does not belong to the action.
func (r *reader) absent(path, got, action string) {
	if got != "" {
		r.fail(path, "nothing with action "+action, got)
	}
}

// read checks the form of a request; what only the chain can tell comes later.
func (r *Relay) read(w api.RelayRequest) (request, error) {
	var in reader
	q := request{action: w.Action}
	var err error
	if q.chain, err = caip.ParseChain(w.Chain); err == nil {
		q.on, err = r.Installation.ChainOf(q.chain)
	}
	if err != nil {
		in.fail("chain", "an EVM chain of this network such as eip155:8453", w.Chain)
	}
	var unserved *account.Unserved
	q.account, err = account.Open(r.Installation.Network.Pins, w.Account)
	switch {
	case errors.As(err, &unserved):
		in.failures = append(in.failures, unserved.Failure("account"))
	case err != nil:
		return request{}, err
	case !q.account.IsRoleBased():
		in.fail("account.type", "role-based: other accounts have no admin", w.Account.Type)
	}
	switch w.Action {
	case api.AdminRotateSession, api.AdminAnnounceExit, api.AdminCancelExit:
		in.message(&q, w)
	case api.AdminOperate:
		in.operation(&q, w, r.Installation.Network.Pins.RoleBasedValidator)
	default:
		in.fail("action", "rotate-session, announce-exit, cancel-exit or operate", w.Action)
	}
	return q, api.NewValidationError(in.failures)
}

// message reads what goes to the validator.
func (r *reader) message(q *request, w api.RelayRequest) {
	q.message = op.AdminMessage{Action: w.Action, Account: q.account.Address}
	var err error
	if q.message.Nonce, err = amount.ParseBase(w.Nonce); err != nil {
		r.fail("nonce", "a decimal number below 2^256", w.Nonce)
	}
	digits, prefixed := strings.CutPrefix(w.Signature, "0x")
	if q.signature, err = hex.DecodeString(digits); err != nil || !prefixed || len(q.signature) != op.SignatureLength {
		r.fail("signature", "0x and a signature of 65 bytes", w.Signature)
	}
	if w.UserOp != nil {
		r.fail("userOp", "nothing with action "+w.Action, "an operation")
	}
	if w.Action != api.AdminRotateSession {
		r.absent("newSession", w.NewSession, w.Action)
		return
	}
	if q.message.NewSession, err = caip.ParseAddress(w.NewSession); err != nil ||
		q.message.NewSession == (common.Address{}) {
		r.fail("newSession", "a 0x address", w.NewSession)
	}
}

// operation reads the operation that the admin signed alone: no fees, no paymaster, no factory, limits that fit into
// one transaction.
func (r *reader) operation(q *request, w api.RelayRequest, validator common.Address) {
	r.absent("newSession", w.NewSession, w.Action)
	r.absent("nonce", w.Nonce, w.Action)
	r.absent("signature", w.Signature, w.Action)
	if w.UserOp == nil {
		r.fail("userOp", "the operation that the admin signed", "")
		return
	}
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
	if _, err := op.DecodeExecute(o.CallData); errors.As(err, &bad) {
		r.fail("userOp."+bad.Field, bad.Want, bad.Got)
	}
}
