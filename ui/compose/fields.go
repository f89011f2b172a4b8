package compose

import "fmt"

// The fields that a mistake can belong to; a number counts from 0.
const (
	IDChain     = "chain"
	IDNeeds     = "needs"
	IDAllow     = "allow"
	IDFund      = "fund"
	IDSlip      = "slip"
	IDSlipBps   = "slip.bps"
	IDValid     = "valid"
	IDAfter     = "after"
	IDOver      = "over"
	IDInterface = "interface"
	IDPay       = "pay"
	IDAmount    = "amount"
	IDReceive   = "receive"
	IDTarget    = "target"
	IDMin       = "min"
	IDExact     = "exact"
)

// OwnText marks the field beside a preset.
const OwnText = ".own"

// IDCall is call i.
func IDCall(i int) string { return fmt.Sprintf("call.%d", i) }

// IDTo is the target of call i.
func IDTo(i int) string { return IDCall(i) + ".to" }

// IDSig is the function of call i.
func IDSig(i int) string { return IDCall(i) + ".sig" }

// IDData is the raw data of call i.
func IDData(i int) string { return IDCall(i) + ".data" }

// IDValue is the coin that goes with call i.
func IDValue(i int) string { return IDCall(i) + ".value" }

// IDNote is what the person wrote beside call i.
func IDNote(i int) string { return IDCall(i) + ".note" }

// IDArg is the argument of call i at a path.
func IDArg(i int, path []int) string { return IDCall(i) + ".arg." + pathText(path) }

// IDNeed is a part of a required token: "asset" or "amount".
func IDNeed(i int, part string) string { return fmt.Sprintf("need.%d.%s", i, part) }

// IDAllowance is a part of an allowance: "asset", "spender" or "amount".
func IDAllowance(i int, part string) string { return fmt.Sprintf("allow.%d.%s", i, part) }

// IDOverride is a part of an assumed state: "address", "balance", "code" or "add".
func IDOverride(i int, part string) string { return fmt.Sprintf("over.%d.%s", i, part) }

// IDSlot is a part of a storage slot of an assumed state: "key" or "value".
func IDSlot(i, k int, part string) string { return fmt.Sprintf("over.%d.slot.%d.%s", i, k, part) }
