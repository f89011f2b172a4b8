package smartaccount

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/service/chain"
)

// kernelV31 is a basic ERC-4337 account with one owner key (protocol §8.2).
type kernelV31 struct{}

func (kernelV31) keys(a Account) error {
	if d := a.wire.DeploymentType; d != "" && d != api.DeploymentERC4337 {
		return &Unserved{"deploymentType", "ERC4337 for " + api.AccountKernelV31, d}
	}
	_, err := address("signerAddress", a.wire.SignerAddress)
	return err
}

func (kernelV31) check(a Account) error {
	if want, _ := a.predicted(); want != a.Address {
		return &Unserved{"accountAddress", "the account of these keys, " + want.Hex(), a.wire.AccountAddress}
	}
	return nil
}

func (kernelV31) validator(p network.Pins) common.Address { return p.ECDSAValidator }

func (kernelV31) initData(p network.Pins, a api.Account) []byte {
	return op.InitDataECDSA(p.ECDSAValidator, common.HexToAddress(a.SignerAddress))
}

func (kernelV31) domain() (name, version string) { return "ECDSAValidator", "0.3.1" }

func (kernelV31) signed(a Account, o op.UserOp, opHash, _ common.Hash) bool {
	owner := common.HexToAddress(a.wire.SignerAddress)
	// The validator takes a signature of the hash itself, too.
	return signedBy(owner, op.EIP191(opHash), o.Signature) || signedBy(owner, opHash, o.Signature)
}

func (kernelV31) coSigned() bool { return false }

func (kernelV31) state(a Account, st chain.State, _ uint64) (State, error) {
	deployed := len(st.Code(a.Address)) > 0
	return State{Deployed: deployed, Deploys: !deployed}, nil
}

func signedBy(owner common.Address, digest common.Hash, sig []byte) bool {
	by, err := op.Recover(digest, sig)
	return err == nil && by == owner
}

// kernelV33 is an EOA that runs the account's code by an EIP-7702 delegation (protocol §2.12, §8.3): its own key is the
// owner.
type kernelV33 struct{}

func (kernelV33) keys(a Account) error {
	if a.wire.DeploymentType != api.DeploymentEIP7702 {
		return &Unserved{"deploymentType", "EIP7702 for " + api.AccountKernelV33, a.wire.DeploymentType}
	}
	_, err := address("signerAddress", a.wire.SignerAddress)
	return err
}

func (kernelV33) check(a Account) error {
	if common.HexToAddress(a.wire.SignerAddress) != a.Address {
		return &Unserved{"signerAddress", "the account address itself, as the account is the EOA", a.wire.SignerAddress}
	}
	return nil
}

// validator is the one that such operations carry in their nonce, although the delegate itself checks the signature.
func (kernelV33) validator(p network.Pins) common.Address { return p.ECDSAValidator }

func (kernelV33) initData(network.Pins, api.Account) []byte { return nil }

func (kernelV33) domain() (name, version string) { return "ECDSAValidator", "0.3.3" }

func (kernelV33) signed(a Account, o op.UserOp, opHash, _ common.Hash) bool {
	return signedBy(a.Address, op.EIP191(opHash), o.Signature)
}

func (kernelV33) coSigned() bool { return false }

func (kernelV33) state(a Account, st chain.State, chainID uint64) (State, error) {
	code := st.Code(a.Address)
	switch {
	case st.Storage(a.Address, rootSlot()) != common.Hash{}:
		return State{}, api.NewError(api.ErrDelegation,
			"The account %s has a root validator on %s, left by an earlier delegation: under Kernel that validator "+
				"would operate the account and its own key would not. Use another account", a.Address.Hex(),
			caip.EVM(chainID))
	case len(code) == 0:
		return State{Delegation: &api.Delegation{ContractAddress: a.pins.KernelV33.Hex(),
			Nonce: st.Nonce(a.Address)}}, nil
	case bytes.Equal(code, designator(a.pins.KernelV33)):
		return State{Deployed: true}, nil
	}
	on := caip.EVM(chainID).String()
	if delegate, ok := DelegateOf(code); ok {
		return State{}, api.NewError(api.ErrDelegation,
			"The account %s is delegated to %s on %s; this service works with the delegate %s only. "+
				"End that delegation first, or use another account", a.Address.Hex(), delegate.Hex(), on,
			a.pins.KernelV33.Hex())
	}
	return State{}, api.NewError(api.ErrDelegation,
		"The account %s is a contract of %d bytes on %s, not an EOA that could be delegated to %s",
		a.Address.Hex(), len(code), on, a.pins.KernelV33.Hex())
}

// rootSlot is where Kernel keeps an account's root validator (the hash of "kernel.v3.validation",
// less one). An EOA that nobody ever made an account of has nothing there.
func rootSlot() common.Hash {
	return common.HexToHash("0x7bcaa2ced2a71450ed5a9a1b4848e8e5206dbc3f06011e595f7f55428cc6f84f")
}

// designator is the code of an EOA that is delegated (EIP-7702).
func designator(delegate common.Address) []byte {
	return append([]byte{0xef, 0x01, 0x00}, delegate[:]...)
}

// DelegateOf reads the contract to which the code of an EOA delegates it (EIP-7702); false for other code or none.
func DelegateOf(code []byte) (common.Address, bool) {
	rest, ok := bytes.CutPrefix(code, []byte{0xef, 0x01, 0x00})
	if !ok || len(rest) != common.AddressLength {
		return common.Address{}, false
	}
	return common.Address(rest), true
}
