package solmsg

import "github.com/gagliardetto/solana-go"

// MaxUnits is how many compute units a transaction has at most, and pays for at most.
const MaxUnits = 1_400_000

// Compute units that the runtime sets aside for an instruction (SIMD-0170).
const (
	unitsOfInstruction = 200_000
	unitsOfBuiltin     = 3_000
)

// Units is how many compute units the runtime sets aside for instructions that set no limit. The price of a unit, if
// one is set, is paid for each of them.
func Units(instructions []Instruction) uint64 {
	units := uint64(0)
	for _, ix := range instructions {
		if builtin(ix.Program) {
			units += unitsOfBuiltin
		} else {
			units += unitsOfInstruction
		}
	}
	return min(units, MaxUnits)
}

// builtin reports whether a program is part of the runtime. One that moved out is not: config, stake, lookup tables,
// and vote since SIMD-0387.
func builtin(program Key) bool {
	switch solana.PublicKey(program) {
	case solana.SystemProgramID, solana.ComputeBudget, solana.BPFLoaderDeprecatedProgramID, solana.BPFLoaderProgramID,
		solana.BPFLoaderUpgradeableProgramID, solana.Secp256k1ProgramID:
		return true
	}
	text := program.String()
	return text == loaderV4 || text == ed25519Program
}
