package ethrpc

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/vm"

	"coffer/api/service/jsonrpc"
)

// RevertError is the error of a call that reverted: its text has the reason and its data what was returned.
func RevertError(returned []byte) *jsonrpc.Error {
	msg := vm.ErrExecutionReverted.Error()
	if reason, err := abi.UnpackRevert(returned); err == nil {
		msg += ": " + reason
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeReverted, Message: msg, Data: hexutil.Encode(returned)}
}

func invalid(format string, args ...any) error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, format, args...)
}

func refuse(format string, args ...any) error {
	return jsonrpc.Errorf(jsonrpc.CodeServer, format, args...)
}

var (
	errNoHeader = errors.New("header not found")
	errNoHash   = errors.New("header for hash not found")
	errBlobs    = errors.New("blob transactions are not supported by this chain")
)

// ErrTimeout is what a call gets that took longer than CallTimeout.
func ErrTimeout() error { return fmt.Errorf("execution aborted (timeout = %v)", CallTimeout) }
