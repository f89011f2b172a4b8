package assets

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Artifact is one compiled contract.
//
// DeployedBytecode is what the compiler emitted: immutables in it are zero, so code for a chain must come from running
// Bytecode (plus ABI-encoded constructor arguments) and never from DeployedBytecode. Of Kernel's contracts
// (KernelNames) there is only what puts them on a chain, arguments included, and the part of the interface that we use.
type Artifact struct {
	ContractName     string
	ABI              json.RawMessage
	Bytecode         []byte          // init code without constructor arguments
	DeployedBytecode []byte          // nil for Kernel's
	StorageLayout    json.RawMessage // as solc prints it without astId; nil for EntryPoint and Kernel's
	SourceSHA256     string          // 64 hex digits, defined in contracts/build.mjs
}

type artifactFile struct {
	ContractName     string          `json:"contractName"`
	ABI              json.RawMessage `json:"abi"`
	Bytecode         string          `json:"bytecode"`
	DeployedBytecode *string         `json:"deployedBytecode"`
	StorageLayout    json.RawMessage `json:"storageLayout"`
	SourceSHA256     string          `json:"sourceSha256"`
}

// ContractNames lists what Contract knows.
func ContractNames() []string {
	return append(KernelNames(), "EntryPoint", "RoleBasedECDSAValidator", "Filler", "Escrow", "Window", "Token", "Feed")
}

// KernelNames lists the contracts of Kernel, the code of others (NOTICE). Through the deterministic deployer with salt
// zero each comes out at its pinned address.
func KernelNames() []string {
	return []string{"KernelV31", "KernelV33", "ECDSAValidator", "KernelFactory", "MetaFactory"}
}

// Contract returns the artifact of one of ContractNames; any other name is an error.
func Contract(name string) (Artifact, error) {
	f, err := read[artifactFile]("contracts/artifacts/" + name + ".json")
	if err != nil {
		return Artifact{}, err
	}
	if f.ContractName != name {
		return Artifact{}, fmt.Errorf("assets: artifact %s is of %q", name, f.ContractName)
	}
	a := Artifact{ContractName: name, ABI: f.ABI, SourceSHA256: f.SourceSHA256}
	if string(f.StorageLayout) != "null" {
		a.StorageLayout = f.StorageLayout
	}
	if a.Bytecode, err = decodeHex(f.Bytecode); err != nil {
		return Artifact{}, fmt.Errorf("assets: bytecode of %s: %w", name, err)
	}
	if f.DeployedBytecode == nil {
		return a, nil
	}
	if a.DeployedBytecode, err = decodeHex(*f.DeployedBytecode); err != nil {
		return Artifact{}, fmt.Errorf("assets: deployed bytecode of %s: %w", name, err)
	}
	return a, nil
}

func decodeHex(s string) ([]byte, error) {
	digits, found := strings.CutPrefix(s, "0x")
	if !found || digits == "" {
		return nil, fmt.Errorf("%.10q is not 0x and hex digits", s)
	}
	return hex.DecodeString(digits)
}
