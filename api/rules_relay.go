package api

import "strings"

// Relay checks the body of POST /account/relay and returns every failure: a role-based account, one of the four
// actions, and exactly the members that the action takes.
func (r Rules) Relay(doc *Document) []Failure {
	return check(doc, RelayRequest{}, func(body place) {
		account := body.get("account")
		if kind, ok := r.accountV1(account); ok && kind != AccountRoleBased {
			account.get("type").fail("role-based: no other account has an admin")
		}
		r.targetChain(body.get("chain"))
		action, ok := body.get("action").str("rotate-session, announce-exit, cancel-exit or operate",
			oneOf(AdminRotateSession, AdminAnnounceExit, AdminCancelExit, AdminOperate))
		if ok {
			r.relayed(body, action)
		}
	})
}

func (r Rules) relayed(body place, action string) {
	if action == AdminOperate {
		if op := body.get("userOp"); op.object() {
			userOp(op, signed)
		}
		unused(body, action, "nonce", "signature", "newSession")
		return
	}
	body.get("nonce").str("the admin nonce as a decimal string", isAmount)
	body.get("signature").str("the admin's signature: 65 bytes as 0x hex",
		func(s string) bool { return isHexBytes(s) && len(s) == 132 })
	if action != AdminRotateSession {
		unused(body, action, "newSession", "userOp")
		return
	}
	body.get("newSession").str(WantKeyAddress, isKeyAddress)
	unused(body, action, "userOp")
}

// unused refuses members that the action does not take: they would be signed for and then ignored.
func unused(body place, action string, names ...string) {
	for _, n := range names {
		if p := body.get(n); p.present() {
			p.fail("nothing: " + action + " takes no " + n)
		}
	}
}

// Undelegate checks the body of POST /account/undelegate and returns every failure: an EOA, and its authorization of
// the zero address on a supported chain.
func (r Rules) Undelegate(doc *Document) []Failure {
	return check(doc, UndelegateRequest{}, func(body place) {
		body.get("account").str("a 0x address", isAddress)
		sig := body.get("authorization")
		if !sig.object() {
			return
		}
		sig.get("contractAddress").str("the zero address, which ends a delegation", func(s string) bool {
			return s == "0x"+strings.Repeat("0", 40)
		})
		authorized(sig)
	})
}
