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

/// ERC-4337 v0.7 account with ERC-7579 execution that speaks the wire format of Kernel v3.1 and v3.3.
///
/// It is used in two ways:
///  - behind an ERC-1967 proxy made by AccountFactory: the root validator decides about signatures;
///  - as the target of an EIP-7702 delegation: the key of the EOA decides, storage is never consulted, and nobody can
///    initialise it.
///
/// Nonce: mode(1) | type(1) | validator(20) | key(2) | sequence(8). Only mode 00 (default) and type 00 (root) exist here.
/// The validator in the nonce must be the one that decides: the root validator, or, for a delegated EOA, the ECDSA
/// validator fixed at construction (which such operations carry although the account checks the signature itself).
contract Account {
    error NotEntryPoint();
    error NotEntryPointOrSelf();
    error AlreadyInitialized();
    error UnsupportedInitialization();
    error UnsupportedNonce(uint256 nonce);
    error UnsupportedMode(bytes32 mode);
    error NonCanonicalExecution();
    error CallFailed(uint256 index, bytes reason);

    event RootValidatorSet(bytes21 root);

    /// @custom:storage-location erc7201:coffer.account
    struct Store {
        bytes21 root; // 0x01 || validator; zero = not initialised
    }

    bytes32 private constant STORE =
        keccak256(abi.encode(uint256(keccak256("coffer.account")) - 1)) & ~bytes32(uint256(0xff));

    bytes32 private constant MODE_SINGLE = bytes32(0);
    bytes32 private constant MODE_BATCH = bytes32(bytes1(0x01));
    bytes1 private constant ID_ROOT = 0x00;
    bytes1 private constant ID_VALIDATOR = 0x01;
    // A root that is neither empty nor a validator: the implementation itself can never be initialised or used.
    bytes21 private constant LOCKED = bytes21(uint168(0xff) << 160);
    // The entry point records at most 2048 bytes of a revert; a longer reason would make CallFailed undecodable there.
    uint256 private constant MAX_REASON = 1024;

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant MESSAGE_TYPE = keccak256("Kernel(bytes32 hash)");

    address public immutable entryPoint;
    address public immutable ecdsaValidator;
    // Code hash of an EOA that is delegated to this very contract (EIP-7702 designator).
    bytes32 private immutable delegatedCodeHash;

    constructor(address entryPoint_, address ecdsaValidator_) {
        entryPoint = entryPoint_;
        ecdsaValidator = ecdsaValidator_;
        delegatedCodeHash = keccak256(abi.encodePacked(hex"ef0100", address(this)));
        _store().root = LOCKED;
    }

    receive() external payable {}

    // ---- set-up ----

    /// Called once, by the factory, in the transaction that deploys the proxy. Hooks and follow-up calls do not exist here.
    function initialize(
        bytes21 root,
        address hook,
        bytes calldata validatorData,
        bytes calldata hookData,
        bytes[] calldata initConfig
    ) external {
        if (_isDelegated() || _store().root != bytes21(0)) revert AlreadyInitialized();
        if (hook != address(0) || hookData.length != 0 || initConfig.length != 0) revert UnsupportedInitialization();
        if (root[0] != ID_VALIDATOR || _validator(root) == address(0)) revert UnsupportedInitialization();
        _store().root = root;
        emit RootValidatorSet(root);
        IValidator(_validator(root)).onInstall(validatorData);
    }

    function rootValidator() external view returns (bytes21) {
        return _isDelegated() ? bytes21(0) : _store().root;
    }

    // ---- ERC-4337 ----

    function validateUserOp(PackedUserOperation calldata op, bytes32 opHash, uint256 missingFunds)
        external
        payable
        returns (uint256 validationData)
    {
        if (msg.sender != entryPoint) revert NotEntryPoint();
        if (_isDelegated()) {
            _checkNonce(op.nonce, ecdsaValidator);
            validationData = Signatures.isByPlainOrPersonal(address(this), opHash, op.signature)
                ? VALIDATION_SUCCESS
                : VALIDATION_FAILED;
        } else {
            address validator = _requireValidator();
            _checkNonce(op.nonce, validator);
            validationData = IValidator(validator).validateUserOp(op, opHash);
        }
        if (missingFunds != 0) {
            // The entry point checks what arrived; a failure here shows there.
            assembly ("memory-safe") {
                pop(call(gas(), caller(), missingFunds, 0, 0, 0, 0))
            }
        }
    }

    // ---- ERC-7579 ----

    /// @param mode 0x00… one call, data = target(20) || value(32) || callData; 0x01… a batch, data =
    ///        abi.encode(Execution[]) in its one canonical encoding. Every other mode is refused.
    /// A call that fails undoes all of them with CallFailed(its index, the first 1024 bytes of its reason).
    function execute(bytes32 mode, bytes calldata data) external payable {
        if (msg.sender != entryPoint && msg.sender != address(this)) revert NotEntryPointOrSelf();
        if (mode == MODE_SINGLE) {
            if (data.length < 52) revert NonCanonicalExecution();
            _call(0, address(bytes20(data[0:20])), uint256(bytes32(data[20:52])), data[52:]);
        } else if (mode == MODE_BATCH) {
            Execution[] memory calls = abi.decode(data, (Execution[]));
            if (keccak256(abi.encode(calls)) != keccak256(data)) revert NonCanonicalExecution();
            for (uint256 i; i < calls.length; ++i) {
                _call(i, calls[i].target, calls[i].value, calls[i].callData);
            }
        } else {
            revert UnsupportedMode(mode);
        }
    }

    function supportsExecutionMode(bytes32 mode) external pure returns (bool) {
        return mode == MODE_SINGLE || mode == MODE_BATCH;
    }

    function supportsModule(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_VALIDATOR;
    }

    function isModuleInstalled(uint256 moduleType, address module, bytes calldata) external view returns (bool) {
        if (moduleType != MODULE_TYPE_VALIDATOR || module == address(0) || _isDelegated()) return false;
        bytes21 root = _store().root;
        return root[0] == ID_VALIDATOR && _validator(root) == module;
    }

    function accountId() external pure returns (string memory) {
        return "coffer.account.1.0.0";
    }

    // ---- ERC-1271 ----

    /// The signed digest is EIP-712 Kernel(bytes32 hash) in this account's own domain, so that a signature made for one
    /// account of an owner is worthless at another. signature = 0x00 || s, or 0x01 || root validator || s.
    /// A delegated EOA also accepts the plain 65-byte signature of its key over hash, as it did before delegation.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (_isDelegated()) {
            if (Signatures.isBy(address(this), hash, signature)) return ERC1271_VALID;
            (bool known, bytes calldata own) = _signatureFor(signature, ecdsaValidator);
            return known && Signatures.isByPlainOrPersonal(address(this), messageDigest(hash), own)
                ? ERC1271_VALID
                : ERC1271_INVALID;
        }
        address validator = _requireValidator();
        (bool ok, bytes calldata inner) = _signatureFor(signature, validator);
        if (!ok) return ERC1271_INVALID;
        return IValidator(validator).isValidSignatureWithSender(msg.sender, messageDigest(hash), inner);
    }

    /// What is signed for ERC-1271 in place of hash.
    function messageDigest(bytes32 hash) public view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPE, keccak256("Kernel"), keccak256(bytes(_wireVersion())), block.chainid, address(this)
            )
        );
        return Signatures.typed(domain, keccak256(abi.encode(MESSAGE_TYPE, hash)));
    }

    /// ERC-5267.
    function eip712Domain()
        external
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        )
    {
        return (0x0f, "Kernel", _wireVersion(), block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    // ---- receivers ----

    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC721Received.selector;
    }

    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC1155Received.selector;
    }

    function onERC1155BatchReceived(address, address, uint256[] calldata, uint256[] calldata, bytes calldata)
        external
        pure
        returns (bytes4)
    {
        return this.onERC1155BatchReceived.selector;
    }

    /// ERC-165 itself, ERC-721 receiver, ERC-1155 receiver, ERC-1271.
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x150b7a02 || id == 0x4e2312e0 || id == ERC1271_VALID;
    }

    // ---- internals ----

    function _store() private pure returns (Store storage s) {
        bytes32 slot = STORE;
        assembly ("memory-safe") {
            s.slot := slot
        }
    }

    function _isDelegated() private view returns (bool) {
        return address(this).codehash == delegatedCodeHash;
    }

    function _wireVersion() private view returns (string memory) {
        return _isDelegated() ? "0.3.3" : "0.3.1";
    }

    function _validator(bytes21 root) private pure returns (address) {
        return address(uint160(uint168(root)));
    }

    function _requireValidator() private view returns (address) {
        bytes21 root = _store().root;
        if (root[0] != ID_VALIDATOR) revert UnsupportedInitialization();
        return _validator(root);
    }

    function _checkNonce(uint256 nonce, address validator) private pure {
        // mode and type are the 16 bits above the 160 bits of the validator and must be zero.
        if (nonce >> 80 != uint160(validator)) revert UnsupportedNonce(nonce);
    }

    function _signatureFor(bytes calldata signature, address validator)
        private
        pure
        returns (bool ok, bytes calldata inner)
    {
        if (signature.length >= 1 && signature[0] == ID_ROOT) return (true, signature[1:]);
        if (signature.length >= 21 && signature[0] == ID_VALIDATOR) {
            return (address(bytes20(signature[1:21])) == validator, signature[21:]);
        }
        return (false, signature);
    }

    function _call(uint256 index, address target, uint256 value, bytes memory data) private {
        bool ok;
        assembly ("memory-safe") {
            ok := call(gas(), target, value, add(data, 0x20), mload(data), 0, 0)
        }
        if (!ok) revert CallFailed(index, _reason());
    }

    function _reason() private pure returns (bytes memory reason) {
        assembly ("memory-safe") {
            let size := returndatasize()
            if gt(size, MAX_REASON) { size := MAX_REASON }
            reason := mload(0x40)
            mstore(reason, size)
            returndatacopy(add(reason, 0x20), 0, size)
            mstore(0x40, and(add(add(reason, size), 0x3f), not(0x1f)))
        }
    }
}
