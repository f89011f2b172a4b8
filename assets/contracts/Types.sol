// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// ERC-4337 v0.7 user operation as the entry point passes it on.
struct PackedUserOperation {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    bytes32 accountGasLimits;
    uint256 preVerificationGas;
    bytes32 gasFees;
    bytes paymasterAndData;
    bytes signature;
}

/// One call of an ERC-7579 batch.
struct Execution {
    address target;
    uint256 value;
    bytes callData;
}

uint256 constant VALIDATION_SUCCESS = 0;
uint256 constant VALIDATION_FAILED = 1;

bytes4 constant ERC1271_VALID = 0x1626ba7e;
bytes4 constant ERC1271_INVALID = 0xffffffff;

// ERC-7579 module type of validators.
uint256 constant MODULE_TYPE_VALIDATOR = 1;

/// What an account asks of its validator. The caller is always the account: state is kept per msg.sender.
interface IValidator {
    function onInstall(bytes calldata data) external;
    function onUninstall(bytes calldata data) external;
    function isModuleType(uint256 moduleType) external view returns (bool);
    function isInitialized(address account) external view returns (bool);

    /// @return ERC-4337 validation data: 1 = wrong signature, else validUntil (48 bits from 160) and validAfter (from 208)
    function validateUserOp(PackedUserOperation calldata op, bytes32 opHash) external returns (uint256);
    function isValidSignatureWithSender(address sender, bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4);
}
