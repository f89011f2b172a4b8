package assets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
)

func contractABI(t *testing.T, name string) abi.ABI {
	t.Helper()
	a := must[Artifact](t)(Contract(name))
	return must[abi.ABI](t)(abi.JSON(bytes.NewReader(a.ABI)))
}

func TestEntryPointBytecodeHasItsCanonicalAddress(t *testing.T) {
	p := must[Pins](t)(PinnedAddresses())
	a := must[Artifact](t)(Contract("EntryPoint"))
	got := crypto.CreateAddress2(common.HexToAddress(p.DeterministicDeployer), common.HexToHash(p.EntryPointSalt),
		crypto.Keccak256(a.Bytecode))
	if got.Hex() != "0x0000000071727De22E5E9d8BAf0edAc6f37da032" || got.Hex() != p.EntryPoint {
		t.Errorf("the artifact deploys to %s", got)
	}
}

// The address is a hash of the code that makes the contract: nothing in it differs from what ZeroDev deployed.
func TestKernelsBytecodeHasThePinnedAddresses(t *testing.T) {
	p := must[Pins](t)(PinnedAddresses())
	pinned := map[string]string{"KernelV31": p.KernelV31Implementation, "KernelV33": p.KernelV33Delegate,
		"ECDSAValidator": p.ECDSAValidator, "KernelFactory": p.Factory, "MetaFactory": p.MetaFactory}
	for _, name := range KernelNames() {
		a := must[Artifact](t)(Contract(name))
		got := crypto.CreateAddress2(common.HexToAddress(p.DeterministicDeployer), common.Hash{},
			crypto.Keccak256(a.Bytecode))
		if got.Hex() != pinned[name] {
			t.Errorf("%s deploys to %s, pinned at %q", name, got, pinned[name])
		}
		// The interface is ours: every function in it is one that the code knows.
		for method, m := range contractABI(t, name).Methods {
			if !bytes.Contains(a.Bytecode, m.ID) {
				t.Errorf("%s has no function %s", name, method)
			}
		}
	}
	if len(pinned) != len(KernelNames()) {
		t.Errorf("%d addresses of %d contracts", len(pinned), len(KernelNames()))
	}
}

func TestContractRefusesUnknownNames(t *testing.T) {
	for _, name := range []string{"", "Kernel", "../manifest", "token"} {
		if _, err := Contract(name); err == nil {
			t.Errorf("%q has an artifact", name)
		}
	}
	for _, bad := range []string{"", "0x", "60", "0x6", "0xzz"} {
		if _, err := decodeHex(bad); err == nil {
			t.Errorf("%q was decoded", bad)
		}
	}
}

func TestContractsKeepTheirWireFormat(t *testing.T) {
	methods := map[string]map[string]string{
		"KernelV31": {
			"initialize": "0x3c3b752b", "execute": "0xe9ae5c53", "validateUserOp": "0x19822f7c",
			"isValidSignature": "0x1626ba7e",
			"onERC721Received": "0x150b7a02", "onERC1155Received": "0xf23a6e61", "onERC1155BatchReceived": "0xbc197c81",
		},
		"KernelV33":     {"execute": "0xe9ae5c53", "validateUserOp": "0x19822f7c", "isValidSignature": "0x1626ba7e"},
		"KernelFactory": {"createAccount": "0xea6d13ac"},
		"MetaFactory":   {"deployWithFactory": "0xc5265d5d"},
		"EntryPoint":    {"handleOps": "0x765e827f", "getNonce": "0x35567e1a", "getUserOpHash": "0x22cdde4c"},
		"Escrow": {"deposit": "0x7f631481", "release": "0xd22633dc", "refund": "0x45b4032c",
			"deposits": "0x4f1c2c31", "attestation": "0x4cbf1ad8"},
		"Filler": {"fill": "0x9fd564f5", "run": "0x337a2504", "void": "0x43b203e8", "refund": "0xc861a08c",
			"validatePaymasterUserOp": "0x52b7512c", "postOp": "0x7c627b21", "getHash": "0x5829c5f5"},
		"Window": {"validatePaymasterUserOp": "0x52b7512c"},
		"RoleBasedECDSAValidator": {
			"announceExit": "0xc88c4820", "cancelExit": "0xa5bf2704", "rotateSession": "0x75542e6a",
			"adminNonce": "0x71b63f73",
		},
	}
	for name, want := range methods {
		parsed := contractABI(t, name)
		for method, selector := range want {
			if got := hexutil.Encode(parsed.Methods[method].ID); got != selector {
				t.Errorf("%s.%s has selector %s, want %s", name, method, got, selector)
			}
		}
	}
	events := map[string][]string{
		"Escrow": {"Deposited(bytes32,address,address,uint256,uint64,bytes32)",
			"Released(bytes32,address,address,uint256)", "Refunded(bytes32,address,address,uint256)"},
		"Filler": {"Filled(bytes32,bytes32)", "Voided(bytes32)"},
	}
	for contract, signatures := range events {
		for _, signature := range signatures {
			name, _, _ := strings.Cut(signature, "(")
			if e := contractABI(t, contract).Events[name]; e.ID != crypto.Keccak256Hash([]byte(signature)) {
				t.Errorf("event %s of %s is %s", name, contract, e.Sig)
			}
		}
	}
}

// EIP-170: no chain takes more.
func TestEveryContractFitsOnAChain(t *testing.T) {
	for _, name := range ContractNames() {
		if n := len(must[Artifact](t)(Contract(name)).DeployedBytecode); n > params.MaxCodeSize {
			t.Errorf("%s has %d bytes", name, n)
		}
	}
}

func TestStorageSlotsThatGenesisAndSimulationsWrite(t *testing.T) {
	want := map[string][]string{"Token": {"_balances 0", "_allowances 1", "_totalSupply 2", "_name 3", "_symbol 4"},
		"Filler": {"owner 0", "pendingOwner 1", "paused 1", "hot 2", "used 3", "caps 4"}, "Window": {},
		"Escrow": {"deposits 0", "isAttester 1", "_attesters 2"}}
	for name, slots := range want {
		var layout struct {
			Storage []struct{ Label, Slot, Type string }
		}
		if err := json.Unmarshal(must[Artifact](t)(Contract(name)).StorageLayout, &layout); err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, v := range layout.Storage {
			got = append(got, v.Label+" "+v.Slot)
		}
		if len(got) < len(slots) || !slices.Equal(got[:len(slots)], slots) {
			t.Errorf("%s has the variables %v, want %v", name, got, slots)
		}
	}
	for _, name := range append(KernelNames(), "EntryPoint") {
		if must[Artifact](t)(Contract(name)).StorageLayout != nil {
			t.Errorf("%s came without a layout", name)
		}
	}
}

// manifest is contracts/manifest.json, written by build.mjs.
type manifest struct {
	Compiler  string              `json:"compiler"`
	Settings  json.RawMessage     `json:"settings"`
	Tools     map[string]string   `json:"tools"`
	Sources   map[string]string   `json:"sources"`
	Inputs    map[string][]string `json:"inputs"`
	Artifacts map[string]string   `json:"artifacts"`
}

func readManifest(t *testing.T) manifest {
	t.Helper()
	var m manifest
	if err := decodeStrict(must[[]byte](t)(os.ReadFile("contracts/manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func fileHash(t *testing.T, name string) string {
	t.Helper()
	sum := sha256.Sum256(must[[]byte](t)(os.ReadFile(filepath.Join("contracts", filepath.FromSlash(name)))))
	return hex.EncodeToString(sum[:])
}

func TestArtifactsAreBuiltFromTheseSources(t *testing.T) {
	m := readManifest(t)
	own := must[[]string](t)(filepath.Glob("contracts/*.sol"))
	own = append(own, must[[]string](t)(filepath.Glob("contracts/hostile/*.sol"))...)
	for _, path := range own {
		name := filepath.ToSlash(strings.TrimPrefix(path, "contracts"+string(filepath.Separator)))
		if fileHash(t, name) != m.Sources[name] {
			t.Errorf("%s was edited after the last build: run go generate ./assets", name)
		}
	}
	for name := range m.Sources {
		if strings.HasPrefix(name, "kernel/") && fileHash(t, name) != m.Sources[name] {
			t.Errorf("%s was edited after the last build: run go generate ./assets", name)
		}
		if !strings.HasPrefix(name, "@") && !strings.HasPrefix(name, "kernel/") &&
			!slices.Contains(own, filepath.Join("contracts", name)) {
			t.Errorf("source %s is gone: run go generate ./assets", name)
		}
	}
	for name, want := range m.Tools {
		if fileHash(t, name) != want {
			t.Errorf("%s was edited after the last build: run go generate ./assets", name)
		}
	}
	files := must[[]string](t)(filepath.Glob("contracts/artifacts/*"))
	hostile := must[[]string](t)(filepath.Glob("contracts/hostile/*.json"))
	for _, path := range append(files, hostile...) {
		name := filepath.ToSlash(strings.TrimPrefix(path, "contracts"+string(filepath.Separator)))
		if fileHash(t, name) != m.Artifacts[name] {
			t.Errorf("%s is not what the build wrote", name)
		}
	}
	if len(files)+len(hostile) != len(m.Artifacts) || len(files) != len(ContractNames()) {
		t.Errorf("%d files, %d in the manifest, %d names", len(files), len(m.Artifacts), len(ContractNames()))
	}
	if !strings.HasPrefix(m.Compiler, "0.8.37+") {
		t.Errorf("compiler %s", m.Compiler)
	}
}

func TestSourceHashCoversEveryInput(t *testing.T) {
	m := readManifest(t)
	for _, name := range ContractNames() {
		inputs := m.Inputs[name]
		if len(inputs) == 0 || !slices.IsSorted(inputs) {
			t.Errorf("%s: inputs %v", name, inputs)
		}
		sum := sha256.New()
		for _, source := range inputs {
			if m.Sources[source] == "" {
				t.Errorf("%s needs %s, which has no hash", name, source)
			}
			sum.Write([]byte(m.Sources[source] + "  " + source + "\n"))
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != must[Artifact](t)(Contract(name)).SourceSHA256 {
			t.Errorf("%s: sources hash to %s", name, got)
		}
	}
	if m.Sources["@account-abstraction/contracts/artifacts/EntryPoint.json"] !=
		"952e7ce1e69354b9e80d0e68e0cbcc64f9304dd25c17170c3732114ea5421b04" {
		t.Error("EntryPoint is not from the package that NOTICE names")
	}
	if m.Sources["kernel/creation-calls.json"] != "880c3d70191da84d7258f89b2dfd7e2fd50d4b460c0434b770bc06a22ee7825e" {
		t.Error("Kernel is not from the file that NOTICE names")
	}
}

func TestBuildPackagesArePinned(t *testing.T) {
	var pkg struct {
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal(must[[]byte](t)(os.ReadFile("contracts/package.json")), &pkg); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"solc": "0.8.37", "@openzeppelin/contracts": "5.7.0",
		"@account-abstraction/contracts": "0.7.0"}
	if len(pkg.DevDependencies) != len(want) {
		t.Errorf("packages %v", pkg.DevDependencies)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string } `json:"packages"`
	}
	if err := json.Unmarshal(must[[]byte](t)(os.ReadFile("contracts/package-lock.json")), &lock); err != nil {
		t.Fatal(err)
	}
	for name, version := range want {
		if got := lock.Packages["node_modules/"+name].Version; got != version || pkg.DevDependencies[name] != version {
			t.Errorf("%s: %s in the lock, %s asked for, want %s", name, got, pkg.DevDependencies[name], version)
		}
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" || (name != "" && !strings.HasPrefix(p.Integrity, "sha512-")) {
			t.Errorf("%q names a place to load from, or has no hash", name)
		}
	}
}
