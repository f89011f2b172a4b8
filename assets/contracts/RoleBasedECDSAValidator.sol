// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    ERC1271_INVALID,
    ERC1271_VALID,
    Execution,
    IValidator,
    MODULE_TYPE_VALIDATOR,
    PackedUserOperation,
    VALIDATION_FAILED,
    VALIDATION_SUCCESS
} from "./Types.sol";
import {Signatures} from "./Signatures.sol";

/// Three roles per account. The session key and the service's co-signer approve operations together. The admin approves
/// nothing day by day: it replaces the session key at once, and it announces an emergency exit. EXIT_DELAY after the
/// announcement the admin alone operates the account, for as long as the exit is not cancelled, and again only the admin
/// can cancel. Neither session key nor co-signer, alone or together, can stop an exit or change a role: roles change only
/// through messages that the admin signed, never because the account made a call.
///
/// The delay is the other side of the resource lock: what the co-signer has pledged to a quote settles or refunds within
/// minutes, long before an exit can move it.
///
/// Admin messages are EIP-712 documents in this contract's domain. Anyone may relay them. Each carries the account's admin
/// nonce, and one that was used or overtaken is dead; cancelExit is valid without an exit so that a signed but unwanted
/// message can be revoked. The admin and the co-signer are fixed for life: replacing the admin at once would let a thief
/// of that key lock the owner out, replacing the co-signer at once would defeat the resource lock.
///
/// Kernel would let an account replace its validator, add modules and change its code by calling itself, and with them go
/// round all of the above. So this validator approves nothing but execute with calls to others, whoever signed, and no
/// signature that Kernel itself asks for to add a module. What an account was made with is in its address: firstSession
/// tells the one part of it that changes later, so that anyone can compute the address again.
contract RoleBasedECDSAValidator is IValidator {
    error InvalidRoles();
    error AlreadyInstalled();
    error CannotUninstall();
    error NotInstalled(address account);
    error WrongNonce(uint256 expected);
    error NotAdmin();
    error ExitAlreadyAnnounced(uint48 availableAt);

    event RolesSet(address indexed account, address session, address admin, address cosigner);
    event SessionRotated(address indexed account, address previousSession, address session);
    event ExitAnnounced(address indexed account, uint48 availableAt);
    event ExitCancelled(address indexed account);

    uint8 public constant ROLE_NONE = 0;
    uint8 public constant ROLE_COSIGNER = 1;
    uint8 public constant ROLE_SESSION = 2;
    uint8 public constant ROLE_ADMIN = 3;

    uint48 public constant EXIT_DELAY = 1 days;

    struct Roles {
        address session;
        uint48 exitAt; // Unix seconds from which the admin operates alone; 0 = no exit announced
        address admin;
        uint96 adminNonce;
        address cosigner;
        address firstSession;
    }

    bytes4 private constant EXECUTE = 0xe9ae5c53; // execute(bytes32 mode, bytes executionCalldata)
    bytes32 private constant MODE_SINGLE = bytes32(0);
    bytes32 private constant MODE_BATCH = bytes32(bytes1(0x01));

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant APPROVE_TYPE = keccak256("Approve(bytes32 callDataAndNonceHash)");
    bytes32 private constant ANNOUNCE_TYPE = keccak256("AnnounceExit(address account,uint256 nonce)");
    bytes32 private constant CANCEL_TYPE = keccak256("CancelExit(address account,uint256 nonce)");
    bytes32 private constant ROTATE_TYPE =
        keccak256("RotateSession(address account,address newSession,uint256 nonce)");

    mapping(address account => Roles) private roles;

    // ---- module ----

    /// @param data abi.encode(address[] signers, uint8[] roles): three different keys, each of the three roles once
    function onInstall(bytes calldata data) external {
        Roles storage r = roles[msg.sender];
        if (r.admin != address(0)) revert AlreadyInstalled();
        (address[] memory keys, uint8[] memory given) = abi.decode(data, (address[], uint8[]));
        if (keys.length != 3 || given.length != 3) revert InvalidRoles();
        for (uint256 i; i < 3; ++i) {
            if (given[i] == ROLE_SESSION) r.session = keys[i];
            else if (given[i] == ROLE_ADMIN) r.admin = keys[i];
            else if (given[i] == ROLE_COSIGNER) r.cosigner = keys[i];
            else revert InvalidRoles();
        }
        // A role given twice leaves another one empty.
        if (r.admin == address(0) || r.cosigner == address(0) || r.admin == r.cosigner) revert InvalidRoles();
        _checkSession(r, r.session);
        r.firstSession = r.session;
        emit RolesSet(msg.sender, r.session, r.admin, r.cosigner);
    }

    /// It is the only validator an account has: taking it away would lock the account for ever.
    function onUninstall(bytes calldata) external pure {
        revert CannotUninstall();
    }

    function isModuleType(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_VALIDATOR;
    }

    function isInitialized(address account) external view returns (bool) {
        return roles[account].admin != address(0);
    }

    // ---- signatures of operations ----

    /// Day by day: session signature over Approve (65) || co-signer signature over the EIP-191 operation hash (65). Approve
    /// covers call data and nonce only, so such an operation carries no fees: else the co-signer alone could set them
    /// and turn any approved call into the account's whole native balance.
    /// After an announced exit: admin signature over the EIP-191 operation hash (65), valid from the end of the delay.
    function validateUserOp(PackedUserOperation calldata op, bytes32 opHash) external view returns (uint256) {
        Roles storage r = roles[msg.sender];
        if (!_callsOthersOnly(op.callData)) return VALIDATION_FAILED;
        bytes calldata s = op.signature;
        bytes32 personal = Signatures.personal(opHash);
        if (s.length == 2 * Signatures.LENGTH) {
            bool approved = op.gasFees == bytes32(0)
                && Signatures.isBy(r.session, approveDigest(op.sender, op.callData, op.nonce), s[0:65])
                && Signatures.isBy(r.cosigner, personal, s[65:130]);
            return approved ? VALIDATION_SUCCESS : VALIDATION_FAILED;
        }
        if (r.exitAt == 0 || !Signatures.isBy(r.admin, personal, s)) return VALIDATION_FAILED;
        return uint256(r.exitAt) << 208; // validAfter; the entry point refuses the operation before it
    }

    /// Same parties as for operations; hash is signed as it is by session or admin, as EIP-191 by the co-signer. An account
    /// that asks for itself is about to add a module.
    function isValidSignatureWithSender(address sender, bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        if (sender == msg.sender) return ERC1271_INVALID;
        Roles storage r = roles[msg.sender];
        bool ok;
        if (signature.length == 2 * Signatures.LENGTH) {
            ok = Signatures.isBy(r.session, hash, signature[0:65])
                && Signatures.isBy(r.cosigner, Signatures.personal(hash), signature[65:130]);
        } else {
            ok = r.exitAt != 0 && block.timestamp >= r.exitAt && Signatures.isBy(r.admin, hash, signature);
        }
        return ok ? ERC1271_VALID : ERC1271_INVALID;
    }

    // ---- the admin's messages ----

    /// Starts the delay after which the admin operates alone.
    function announceExit(address account, uint256 nonce, bytes calldata adminSignature) external {
        Roles storage r = _useNonce(account, nonce);
        if (!Signatures.isBy(r.admin, announceExitDigest(account, nonce), adminSignature)) revert NotAdmin();
        if (r.exitAt != 0) revert ExitAlreadyAnnounced(r.exitAt);
        r.exitAt = uint48(block.timestamp) + EXIT_DELAY;
        emit ExitAnnounced(account, r.exitAt);
    }

    /// Ends an exit, whether its delay has passed or not.
    function cancelExit(address account, uint256 nonce, bytes calldata adminSignature) external {
        Roles storage r = _useNonce(account, nonce);
        if (!Signatures.isBy(r.admin, cancelExitDigest(account, nonce), adminSignature)) revert NotAdmin();
        r.exitAt = 0;
        emit ExitCancelled(account);
    }

    /// Replaces the session key at once; whatever the old key signed is void.
    function rotateSession(address account, address newSession, uint256 nonce, bytes calldata adminSignature) external {
        Roles storage r = _useNonce(account, nonce);
        if (!Signatures.isBy(r.admin, rotateSessionDigest(account, newSession, nonce), adminSignature)) {
            revert NotAdmin();
        }
        _checkSession(r, newSession);
        emit SessionRotated(account, r.session, newSession);
        r.session = newSession;
    }

    // ---- views ----

    function signers(address account) external view returns (address session, address admin, address cosigner) {
        Roles storage r = roles[account];
        return (r.session, r.admin, r.cosigner);
    }

    /// The session key that the account was made with.
    function firstSession(address account) external view returns (address) {
        return roles[account].firstSession;
    }

    function roleOf(address account, address signer) external view returns (uint8) {
        Roles storage r = roles[account];
        if (signer == address(0)) return ROLE_NONE;
        if (signer == r.session) return ROLE_SESSION;
        if (signer == r.admin) return ROLE_ADMIN;
        return signer == r.cosigner ? ROLE_COSIGNER : ROLE_NONE;
    }

    /// @return Unix seconds from which the admin operates alone; 0 = no exit announced
    function exitAvailableAt(address account) external view returns (uint48) {
        return roles[account].exitAt;
    }

    /// The nonce that the admin's next message must carry.
    function adminNonce(address account) external view returns (uint256) {
        return roles[account].adminNonce;
    }

    function callDataAndNonceHash(address sender, bytes calldata callData, uint256 nonce) public pure returns (bytes32) {
        return keccak256(abi.encode(sender, callData, nonce));
    }

    function approveDigest(address sender, bytes calldata callData, uint256 nonce) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(APPROVE_TYPE, callDataAndNonceHash(sender, callData, nonce))));
    }

    function announceExitDigest(address account, uint256 nonce) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(ANNOUNCE_TYPE, account, nonce)));
    }

    function cancelExitDigest(address account, uint256 nonce) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(CANCEL_TYPE, account, nonce)));
    }

    function rotateSessionDigest(address account, address newSession, uint256 nonce) public view returns (bytes32) {
        return _typed(keccak256(abi.encode(ROTATE_TYPE, account, newSession, nonce)));
    }

    // ---- internals ----

    /// One call or a batch, in the one encoding that every reader understands alike, none to the account itself.
    function _callsOthersOnly(bytes calldata callData) private view returns (bool) {
        if (callData.length < 4 || bytes4(callData[0:4]) != EXECUTE) return false;
        (bytes32 mode, bytes memory execution) = abi.decode(callData[4:], (bytes32, bytes));
        if (mode == MODE_SINGLE) return execution.length >= 52 && address(bytes20(execution)) != msg.sender;
        if (mode != MODE_BATCH) return false;
        Execution[] memory calls = abi.decode(execution, (Execution[]));
        if (keccak256(abi.encode(calls)) != keccak256(execution)) return false;
        for (uint256 i; i < calls.length; ++i) {
            if (calls[i].target == msg.sender) return false;
        }
        return true;
    }

    function _useNonce(address account, uint256 nonce) private returns (Roles storage r) {
        r = roles[account];
        if (r.admin == address(0)) revert NotInstalled(account);
        if (nonce != r.adminNonce) revert WrongNonce(r.adminNonce);
        ++r.adminNonce;
    }

    function _checkSession(Roles storage r, address session) private view {
        if (session == address(0) || session == r.admin || session == r.cosigner) revert InvalidRoles();
    }

    function _typed(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPE, keccak256("RoleBasedECDSAValidator"), keccak256("1.4.3"), block.chainid, address(this)
            )
        );
        return Signatures.typed(domain, structHash);
    }
}
