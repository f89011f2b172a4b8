package op

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op/internal/word"
)

// Roles of a role-based account's keys (protocol §8.4).
const (
	RoleCoSigner = 1
	RoleSession  = 2
	RoleAdmin    = 3
)

// ProxyInitCode is the 95-byte creation code of the account proxy that points at
// implementation; its hash is the initCodeHash of the prediction.
func ProxyInitCode(implementation common.Address) []byte {
	code := append(common.FromHex("603d3d8160223d3973"), implementation[:]...)
	code = append(code, common.FromHex("60095155f3363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076")...)
	return append(code, common.FromHex("cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3")...)
}

// InitDataECDSA is the account initialization call of a kernel account whose root
// validator checks one owner key.
func InitDataECDSA(validator, owner common.Address) []byte {
	return initialize(validator, owner[:])
}

// InitDataRoleBased is the account initialization call of a role-based account with
// the session, admin and co-signer keys in this order and the roles 2, 3, 1.
func InitDataRoleBased(validator, session, admin, cosigner common.Address) []byte {
	keys := []common.Address{session, admin, cosigner}
	data := word.Uint64(nil, 2*word.Size)
	data = word.Uint64(data, uint64((2+1+len(keys))*word.Size))
	data = word.Uint64(data, uint64(len(keys)))
	for _, k := range keys {
		data = word.Address(data, k)
	}
	data = word.Uint64(data, uint64(len(keys)))
	for _, role := range []uint64{RoleSession, RoleAdmin, RoleCoSigner} {
		data = word.Uint64(data, role)
	}
	return initialize(validator, data)
}

// initialize encodes initialize(bytes21 rootValidator, address hook, bytes
// validatorData, bytes hookData, bytes[] initConfig) without hook and config. The root
// validator is 0x01 ‖ validator: the type byte of a validator module.
func initialize(validator common.Address, validatorData []byte) []byte {
	const head = 5 * word.Size
	hookData := head + word.Size + word.Padded(len(validatorData))
	out := []byte{0x3c, 0x3b, 0x75, 0x2b, 0x01}
	out = append(out, validator[:]...)
	out = append(out, make([]byte, word.Size-1-len(validator))...)
	out = word.Address(out, common.Address{})
	out = word.Uint64(out, head)
	out = word.Uint64(out, uint64(hookData))
	out = word.Uint64(out, uint64(hookData+word.Size))
	out = word.Bytes(out, validatorData)
	out = word.Bytes(out, nil)
	return word.Uint64(out, 0)
}

// PredictAddress is the address of the account that factory deploys for initData and
// index (0 … 2^256-1): CREATE2 with salt keccak256(initData ‖ index). It is the same on
// every chain (protocol §8.4).
func PredictAddress(factory, implementation common.Address, initData []byte, index *big.Int) common.Address {
	salt := crypto.Keccak256Hash(word.Uint(append([]byte{}, initData...), index))
	return crypto.CreateAddress2(factory, salt, crypto.Keccak256(ProxyInitCode(implementation)))
}

// FactoryData is the call deployWithFactory(factory, initData, index) that a user
// operation sends to the meta factory to deploy the account.
func FactoryData(factory common.Address, initData []byte, index *big.Int) []byte {
	out := word.Address([]byte{0xc5, 0x26, 0x5d, 0x5d}, factory)
	out = word.Uint64(out, 3*word.Size)
	out = word.Uint(out, index)
	return word.Bytes(out, initData)
}
