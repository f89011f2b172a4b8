package op_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
)

// TestK14_TheDocumentOfAnApprovalNamesItsDomainsType: it is the same approval as the one in wire form, and that one
// stays without the entry.
func TestK14_TheDocumentOfAnApprovalNamesItsDomainsType(t *testing.T) {
	d := op.Domain{Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainID: 10, VerifyingContract: common.Address{9}}
	document, wire := d.ApproveDocument(common.Hash{8}), d.ApproveWire(common.Hash{8})
	if len(document.Types["EIP712Domain"]) != 4 || len(document.Types) != 2 || len(wire.Types) != 1 {
		t.Errorf("types %v and %v", document.Types, wire.Types)
	}
	got, hash, err := op.CheckTypedData(document)
	if err != nil || got != d || hash != (common.Hash{8}) {
		t.Errorf("%+v %s: %v", got, hash, err)
	}
}
