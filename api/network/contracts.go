package network

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/assets"
)

// deployer is the deterministic deployer: where it puts a contract follows from the code that makes it.
var deployer = common.HexToAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C")

// OnNodes reports whether the chains of the network are those of others, reached through their nodes.
func (d Descriptor) OnNodes() bool {
	return d.Version > 1 && d.Kind != Embedded && d.Pins.RoleBasedValidator == RoleBasedValidator()
}

// Salt is what keeps the attestations of one network from being worth anything on another one, in the domain of the
// escrows of a network on nodes: its id, which follows from the kind and the first blocks.
func (d Descriptor) Salt() [32]byte { return common.HexToHash(d.ID) }

// FillerInit is the code that makes the filler of an owner.
func FillerInit(entryPoint, owner common.Address) ([]byte, error) {
	return creation("Filler", entryPoint[:], owner[:])
}

// EscrowInit is the code that makes an escrow. Filler, attesters, threshold and salt cannot be changed afterwards.
func EscrowInit(filler common.Address, attesters []common.Address, threshold int, salt [32]byte) ([]byte, error) {
	number := func(n int) []byte { return big.NewInt(int64(n)).Bytes() }
	words := [][]byte{filler[:], number(4 * 32), number(threshold), salt[:], number(len(attesters))}
	for _, a := range attesters {
		words = append(words, a[:])
	}
	return creation("Escrow", words...)
}

// Created is where the deterministic deployer puts what a code makes, with salt zero.
func Created(init []byte) common.Address {
	return crypto.CreateAddress2(deployer, [32]byte{}, crypto.Keccak256(init))
}

// EscrowAt is where the escrow of a deployment is on every chain of a network on nodes.
func (d Descriptor) EscrowAt(n Deployment) (common.Address, error) {
	init, err := EscrowInit(n.Filler, n.Attesters, n.Threshold, d.Salt())
	return Created(init), err
}

// creation is the code of a contract with the words of its constructor's arguments.
func creation(name string, words ...[]byte) ([]byte, error) {
	art, err := assets.Contract(name)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	out := bytes.Clone(art.Bytecode)
	for _, w := range words {
		out = append(out, common.LeftPadBytes(w, 32)...)
	}
	return out, nil
}
