package api

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/assets"
)

// method reads a signature as ABI JSON and returns what the reference encoder makes of it.
func method(t testing.TB, signature string, kinds ...string) abi.Method {
	t.Helper()
	name, _, _ := strings.Cut(signature, "(")
	var inputs abi.Arguments
	for _, k := range kinds {
		kind, err := abi.NewType(k, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, abi.Argument{Type: kind})
	}
	m := abi.NewMethod(name, name, abi.Function, "", false, false, inputs, nil)
	if m.Sig != signature {
		t.Fatalf("%s, want %s", m.Sig, signature)
	}
	return m
}

// packed is the call data of a function with simple arguments.
func packed(t testing.TB, signature string, args ...any) []byte {
	t.Helper()
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	m := method(t, signature, strings.Split(list, ",")...)
	b, err := m.Inputs.Pack(args...)
	if err != nil {
		t.Fatal(err)
	}
	return append(slices.Clone(m.ID), b...)
}

func approveData(t testing.TB) []byte {
	t.Helper()
	return packed(t, "approve(address,uint256)", common.HexToAddress(evmOther), common.Big1)
}

// execute is execute(mode, executionCalldata) of ERC-7579 as the reference encoder writes it.
func execute(t testing.TB, mode byte, execution []byte) []byte {
	t.Helper()
	return packed(t, "execute(bytes32,bytes)", [32]byte{mode}, execution)
}

func single(to common.Address, data []byte) []byte {
	return append(append(to.Bytes(), make([]byte, 32)...), data...)
}

func batch(t testing.TB, to common.Address, data []byte) []byte {
	t.Helper()
	type execution struct {
		Target   common.Address
		Value    *big.Int
		CallData []byte
	}
	kind, err := abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{{Name: "target", Type: "address"},
		{Name: "value", Type: "uint256"}, {Name: "callData", Type: "bytes"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := abi.Arguments{{Type: kind}}.Pack([]execution{{to, common.Big0, data}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// callFailures are the failures of a prepare request with one call, of both versions.
func callFailures(t testing.TB, account, to string, data []byte) map[string][]Failure {
	t.Helper()
	calls := fmt.Sprintf(`[{"to":%q,"data":"0x%x","value":"0"}]`, to, data)
	r := rules(t)
	v1 := fmt.Sprintf(`{"account":%s,"targetChain":"eip155:8453","calls":%s,"tokensRequired":[]}`, account, calls)
	return map[string][]Failure{
		"v3": r.Prepare(mustParse(t, prepareBody(map[string]string{"accounts": "[" + accSolana + "," + account + "]",
			"calls": calls}))),
		"v1": r.PrepareV1(mustParse(t, v1)),
	}
}

// refusedCall demands one failure, at the call's data, that says where approvals belong.
func refusedCall(t *testing.T, account, to string, data []byte, got string) {
	t.Helper()
	for version, fs := range callFailures(t, account, to, data) {
		if len(fs) != 1 || fs[0].Path != "calls[0].data" ||
			!strings.Contains(fs[0].Expected, "allowanceRequirements") || !strings.Contains(fs[0].Got, got) {
			t.Errorf("%s: %v, want one at calls[0].data that names %s", version, fs, got)
		}
	}
}

func acceptedCall(t *testing.T, account, to string, data []byte) {
	t.Helper()
	for version, fs := range callFailures(t, account, to, data) {
		if len(fs) != 0 {
			t.Errorf("%s: %v", version, fs)
		}
	}
}

func TestTheOwnExecuteIsNoCall(t *testing.T) {
	usdc, self := common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), common.HexToAddress(evmOwner)
	approve := approveData(t)
	odd := execute(t, 1, batch(t, usdc, approve))
	// another offset, which a contract follows
	odd = append(odd[:36:36], slices.Concat(common.LeftPadBytes([]byte{0x60}, 32), make([]byte, 32), odd[68:])...)
	deep := execute(t, 1, batch(t, usdc, approve))
	for range 6 {
		deep = execute(t, 1, batch(t, self, deep))
	}
	for name, data := range map[string][]byte{
		"single":                 execute(t, 0, single(usdc, approve)),
		"batch":                  execute(t, 1, batch(t, usdc, approve)),
		"delegate call":          execute(t, 0xff, append(usdc.Bytes(), approve...)),
		"nested":                 deep,
		"not canonical":          odd,
		"nothing but a selector": execute(t, 0, nil)[:4],
		"no approval": execute(t, 1, batch(t, usdc,
			packed(t, "transfer(address,uint256)", usdc, common.Big1))),
	} {
		t.Run(name, func(t *testing.T) {
			for _, account := range []string{accKernel31, accKernel33} {
				refusedCall(t, account, evmOwner, data, "execute(bytes32,bytes)")
				refusedCall(t, account, strings.ToLower(evmOwner), data, "execute(bytes32,bytes)")
			}
		})
	}
	// What another account executes, it executes for itself; and a call to oneself that executes nothing does no harm.
	acceptedCall(t, accKernel31, evmOther, execute(t, 1, batch(t, usdc, approve)))
	acceptedCall(t, accKernel31, evmOwner, nil)
	acceptedCall(t, accKernel31, evmOwner, packed(t, "onERC721Received(address,address,uint256,bytes)", usdc, usdc,
		common.Big1, []byte{}))
}

// Every function of the account that a call of its own can reach and that is no view either acts, and is refused, or
// refuses itself.
func TestEveryFunctionOfTheAccountThatActsIsRefused(t *testing.T) {
	// the one works once, before the first call; the other for the entry point alone
	harmless := []string{"initialize", "validateUserOp"}
	found := map[string]bool{}
	for name, account := range map[string]string{"KernelV31": accKernel31, "KernelV33": accKernel33} {
		raw, err := assets.Contract(name)
		if err != nil {
			t.Fatal(err)
		}
		var contract abi.ABI
		if err := json.Unmarshal(raw.ABI, &contract); err != nil {
			t.Fatal(err)
		}
		for name, m := range contract.Methods {
			if m.IsConstant() || slices.Contains(harmless, name) {
				continue
			}
			found[name] = true
			refusedCall(t, account, evmOwner, m.ID, m.Sig)
			acceptedCall(t, account, evmOther, m.ID)
		}
	}
	if len(found) != 11 {
		t.Errorf("functions that act: %v", found)
	}
}

// The role-based validator approves no call of an account to itself, whatever it carries.
func TestARoleBasedAccountCallsOthersOnly(t *testing.T) {
	for _, data := range [][]byte{nil, {1, 2, 3, 4}, execute(t, 1, nil)} {
		for version, fs := range callFailures(t, accRole, evmOther, data) {
			if len(fs) != 1 || fs[0].Path != "calls[0].to" {
				t.Errorf("%s: %v, want one at calls[0].to", version, fs)
			}
		}
	}
	acceptedCall(t, accRole, evmOwner, nil)
}

// Who is set up at a validator operates the account.
func TestACallDoesNotChangeWhoOperatesTheAccount(t *testing.T) {
	for _, function := range []string{"onInstall(bytes)", "onUninstall(bytes)"} {
		data := packed(t, function, []byte{1})
		for _, account := range []string{accKernel31, accKernel33, accRole} {
			for version, fs := range callFailures(t, account, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", data) {
				if len(fs) != 1 || fs[0].Path != "calls[0].data" || fs[0].Got != function {
					t.Errorf("%s: %v, want one at calls[0].data", version, fs)
				}
			}
		}
	}
}

func TestEveryFormOfApprovalIsNoCall(t *testing.T) {
	for signature, selector := range map[string]string{
		"approve(address,uint256)":                                                  "095ea7b3",
		"increaseAllowance(address,uint256)":                                        "39509351",
		"increaseApproval(address,uint256)":                                         "d73dd623",
		"permit(address,address,uint256,uint256,uint8,bytes32,bytes32)":             "d505accf",
		"permit(address,address,uint256,uint256,bytes)":                             "9fd5a6cf",
		"permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)":        "8fcbaf0c",
		"setApprovalForAll(address,bool)":                                           "a22cb465",
		"approve(address,address,uint160,uint48)":                                   "87517c45",
		"permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)":   "2b67b570",
		"permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)": "2a2d80d1",
		"approve(address,uint256,uint256)":                                          "426a8493",
		"setOperator(address,bool)":                                                 "558a7297",
		"permit(address,uint256,uint256,uint8,bytes32,bytes32)":                     "7ac2ff7b",
		"approveAndCall(address,uint256,bytes)":                                     "cae9ca51",
		"selfPermit(address,uint256,uint256,uint8,bytes32,bytes32)":                 "f3995c67",
	} {
		if id := crypto.Keccak256([]byte(signature))[:4]; hex.EncodeToString(id) != selector ||
			named(approvals(), selectorOf(id)) != signature {
			t.Errorf("%s: %x, published %s, in the list %q", signature, id, selector,
				named(approvals(), selectorOf(id)))
		}
	}
	seen := map[string]string{}
	for _, f := range approvals() {
		signature := f.signature
		id := crypto.Keccak256([]byte(signature))[:4]
		if other := seen[string(id)]; other != "" {
			t.Errorf("%s and %s share a selector", signature, other)
		}
		seen[string(id)] = signature
		refusedCall(t, accKernel31, evmOther, append(id, make([]byte, 64)...), signature)
		refusedCall(t, accKernel31, evmOther, id, signature)
	}
}

func TestWhatTakesBackOrMovesIsNoApproval(t *testing.T) {
	for _, signature := range []string{
		"transfer(address,uint256)", "transferFrom(address,address,uint256)", "decreaseAllowance(address,uint256)",
		"decreaseApproval(address,uint256)",
		"revokeOperator(address)",
		"receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
		"transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
		"cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)",
		"permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)", "deposit()",
		"swap(address,uint256)",
		"approved(address)", "getApproved(uint256)", "isApprovedForAll(address,address)", "allowance(address,address)",
		"execute(bytes,bytes[],uint256)", "aggregate((address,bytes)[])", "safeTransferFrom(address,address,uint256)",
	} {
		acceptedCall(t, accKernel31, evmOther, append(crypto.Keccak256([]byte(signature))[:4], make([]byte, 96)...))
	}
	for _, short := range [][]byte{nil, {0x09}, {0x09, 0x5e, 0xa7}} {
		acceptedCall(t, accKernel31, evmOther, short)
	}
}

// An approve that can be declared as an allowance is told from the others, and what cannot be read is not passed over.
func TestApprovalNamesTellWhatCanBeDeclared(t *testing.T) {
	for signature, want := range map[string]string{
		"approve(address,uint256)":                             "approve",
		"approve(address,uint256,uint256)":                     "approve(address,uint256,uint256)",
		"approve(address,address,uint160,uint48)":              "approve(address,address,uint160,uint48)",
		"permit(address,address,uint256,uint256,bytes)":        "permit",
		"setApprovalForAll(address,bool)":                      "setApprovalForAll",
		"transfer(address,uint256)":                            "",
		"multicall(bytes[])":                                   "a multicall that cannot be read",
		"receiveWithAuthorization(address,address,uint256)":    "",
		"increaseAllowance(address,uint256)":                   "increaseAllowance",
		"setApprovalForAll(address,bool,and,something,unlike)": "",
	} {
		id := crypto.Keccak256([]byte(signature))[:4]
		if got := ApprovalName(id); got != want {
			t.Errorf("%s: %q, want %q", signature, got, want)
		}
	}
	if got := ApprovalName([]byte{9}); got != "" {
		t.Errorf("one byte: %q", got)
	}
}

func TestSelectorsAreThoseOfTheirSignatures(t *testing.T) {
	all := slices.Concat(approvals(), ownFunctions(), moduleFunctions())
	for _, m := range multicalls() {
		all = append(all, function{m.selector, m.signature})
	}
	for _, f := range all {
		if want := selectorOf(crypto.Keccak256([]byte(f.signature))); f.selector != want {
			t.Errorf("%s: %08x, its hash begins with %08x", f.signature, f.selector, want)
		}
	}
}
