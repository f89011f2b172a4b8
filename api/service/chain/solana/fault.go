package solana

import (
	"errors"
	"fmt"
)

// Fault is why a transaction did not succeed, in the runtime's names. Kind is a TransactionError. Index is the
// instruction or the account that it names, in InstructionError, DuplicateInstruction and InsufficientFundsForRent.
// Instruction is the InstructionError, and Code its number where that is Custom.
type Fault struct {
	Kind        string `json:"kind"`
	Index       int    `json:"index,omitzero"`
	Instruction string `json:"instruction,omitzero"`
	Code        uint32 `json:"code,omitzero"`
}

// Kinds of Fault with an index.
const (
	FaultInstruction = "InstructionError"
	FaultDuplicate   = "DuplicateInstruction"
	FaultRent        = "InsufficientFundsForRent"

	// FaultCustom is the Instruction of a Fault with a Code.
	FaultCustom = "Custom"
)

// instructionTexts are the runtime's words for an InstructionError; those of Custom have the code.
var instructionTexts = map[string]string{
	"InvalidArgument":                    "invalid program argument",
	"InvalidInstructionData":             "invalid instruction data",
	"InvalidAccountData":                 "invalid account data for instruction",
	"IncorrectProgramId":                 "incorrect program id for instruction",
	"MissingRequiredSignature":           "missing required signature for instruction",
	"ModifiedProgramId":                  "instruction illegally modified the program id of an account",
	"ExternalAccountLamportSpend":        "instruction spent from the balance of an account it does not own",
	"ReadonlyLamportChange":              "instruction changed the balance of a read-only account",
	"ReadonlyDataModified":               "instruction modified data of a read-only account",
	"NotEnoughAccountKeys":               "insufficient account keys for instruction",
	"UnsupportedProgramId":               "Unsupported program id",
	"MissingAccount":                     "An account required by the instruction is missing",
	"InvalidSeeds":                       "Provided seeds do not result in a valid address",
	"PrivilegeEscalation":                "Cross-program invocation with unauthorized signer or writable account",
	"ProgramFailedToComplete":            "Program failed to complete",
	"ArithmeticOverflow":                 "Program arithmetic overflowed",
	"IllegalOwner":                       "Provided owner is not allowed",
	"MaxAccountsDataAllocationsExceeded": "Accounts data allocations exceeded the maximum allowed per transaction",
	"MaxInstructionTraceLengthExceeded":  "Max instruction trace length exceeded",
}

// transactionTexts are the runtime's words for the other kinds.
var transactionTexts = map[string]string{
	"AccountNotFound":            "Attempt to debit an account but found no record of a prior credit.",
	"ProgramAccountNotFound":     "Attempt to load a program that does not exist",
	"InsufficientFundsForFee":    "Insufficient funds for fee",
	"InvalidAccountForFee":       "This account may not be used to pay transaction fees",
	"AlreadyProcessed":           "This transaction has already been processed",
	"BlockhashNotFound":          "Blockhash not found",
	"SignatureFailure":           "Transaction did not pass signature verification",
	"SanitizeFailure":            "Transaction failed to sanitize accounts offsets correctly",
	"AddressLookupTableNotFound": "Transaction loads an address table account that doesn't exist",
}

// String is the runtime's text.
func (f Fault) String() string {
	switch f.Kind {
	case FaultInstruction:
		return fmt.Sprintf("Error processing Instruction %d: %s", f.Index, f.instruction())
	case FaultDuplicate:
		return fmt.Sprintf("Transaction contains a duplicate instruction (%d) that is not allowed", f.Index)
	case FaultRent:
		return fmt.Sprintf("Transaction results in an account (%d) with insufficient funds for rent", f.Index)
	}
	return transactionTexts[f.Kind]
}

func (f Fault) instruction() string {
	if f.Instruction == FaultCustom {
		return fmt.Sprintf("custom program error: %#x", f.Code)
	}
	return instructionTexts[f.Instruction]
}

// faulty is a reason in plain words with its name in the runtime.
type faulty struct {
	error
	fault Fault
}

func (e *faulty) Unwrap() error { return e.error }

// named gives the reason for which an instruction failed its name in the runtime.
func named(name string, err error) error {
	return &faulty{err, Fault{Kind: FaultInstruction, Instruction: name}}
}

// custom gives the reason for which an instruction failed its code in the program.
func custom(code uint32, err error) error {
	return &faulty{err, Fault{Kind: FaultInstruction, Instruction: FaultCustom, Code: code}}
}

// ofTransaction gives the reason for which a whole transaction failed or was refused its name.
func ofTransaction(f Fault, err error) error { return &faulty{err, f} }

// FaultOf is the name of the reason that a *TxError or the error of a failed transaction has; false for other errors.
func FaultOf(err error) (Fault, bool) {
	if f, ok := errors.AsType[*faulty](err); ok {
		return f.fault, true
	}
	for _, known := range []struct {
		err  error
		kind string
	}{
		{ErrMessage, "SanitizeFailure"}, {ErrSignature, "SignatureFailure"}, {ErrBlockhash, "BlockhashNotFound"},
		{ErrProcessed, "AlreadyProcessed"}, {ErrLookup, "AddressLookupTableNotFound"},
	} {
		if errors.Is(err, known.err) {
			return Fault{Kind: known.kind}, true
		}
	}
	return Fault{}, false
}
