package pinned

import (
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
)

func TestContractsAreWhereEveryNetworkHasThem(t *testing.T) {
	pins, formulas, err := Pins()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		got  common.Address
		want string
	}{
		{pins.EntryPoint, "0x0000000071727De22E5E9d8BAf0edAc6f37da032"},
		{pins.KernelV31, "0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D"},
		{pins.KernelV33, "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28"},
		{pins.Factory, "0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"},
		{pins.MetaFactory, "0xd703aaE79538628d27099B8c4f621bE4CCd142d5"},
		{pins.ECDSAValidator, "0x845ADb2C711129d4f3966735eD98a9F09fC4cE57"},
		{pins.Paymaster, network.Window().Hex()},
		{pins.RoleBasedValidator, "0x14725fBA0F374c869d1cd993A37557055560CA3d"},
		{formulas[0].VerifyingContract, "0x14725fBA0F374c869d1cd993A37557055560CA3d"},
		{pins.Solver, "0x0000000000000000000000000000000000000000"},
		{pins.Escrow, "0x0000000000000000000000000000000000000000"},
	} {
		if c.got.Hex() != c.want {
			t.Errorf("%s, expected %s", c.got.Hex(), c.want)
		}
	}
}

// Other code at a pinned address is an error with both hashes; the code of another chain is other code.
func TestOtherCodeIsAnError(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, id := range []uint64{1, 8453} {
			left, err := c.Left(id)
			if err != nil {
				t.Fatal(err)
			}
			code := left[0].Code
			if there, err := c.Check(id, code); !there || err != nil {
				t.Errorf("%s on %d: %t, %v", c.Name, id, there, err)
			}
			_, err = c.Check(10, code)
			if ofChain := id != 1 && (c.Name == KernelV31 || c.Name == KernelV33); (err != nil) != ofChain {
				t.Errorf("%s of chain %d on chain 10: %v", c.Name, id, err)
			}
			code[len(code)/2] ^= 1
			var differs *DifferenceError
			if _, err := c.Check(id, code); !errors.As(err, &differs) || differs.Expected == differs.Found ||
				differs.At != c.At {
				t.Errorf("%s on %d: %v", c.Name, id, err)
			}
		}
		if there, err := c.Check(1, nil); there || err != nil {
			t.Errorf("%s: no code: %t, %v", c.Name, there, err)
		}
	}
}
