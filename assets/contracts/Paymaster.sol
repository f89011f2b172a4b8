// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PackedUserOperation, VALIDATION_FAILED, VALIDATION_SUCCESS} from "./Types.sol";
import {Signatures} from "./Signatures.sol";

/// Sponsors the operations that its operator signed, inside the window that the operator set.
///
/// paymasterAndData = paymaster(20) || gas limits(32) || validUntil(6) || validAfter(6) || signature(65), the signature
/// being the operator's over EIP-191 of getHash. Operations carry no fees (protocol §2.4), so neither stake nor deposit is
/// needed; an operation with fees stops in the entry point for want of a deposit.
contract Paymaster {
    error NotEntryPoint();
    error InvalidPaymasterData();

    uint256 private constant GAS_LIMITS_AT = 20;
    uint256 private constant DATA_AT = 52;
    uint256 private constant SIGNATURE_AT = DATA_AT + 12;

    address public operator; // slot 0
    address public immutable entryPoint;

    constructor(address entryPoint_, address operator_) {
        entryPoint = entryPoint_;
        operator = operator_;
    }

    /// The context is always empty, so that the entry point makes no postOp call.
    function validatePaymasterUserOp(PackedUserOperation calldata op, bytes32, uint256)
        external
        view
        returns (bytes memory, uint256 validationData)
    {
        if (msg.sender != entryPoint) revert NotEntryPoint();
        bytes calldata data = op.paymasterAndData;
        if (data.length != SIGNATURE_AT + Signatures.LENGTH) revert InvalidPaymasterData();
        uint48 validUntil = uint48(bytes6(data[DATA_AT:DATA_AT + 6]));
        uint48 validAfter = uint48(bytes6(data[DATA_AT + 6:SIGNATURE_AT]));
        bytes32 digest = Signatures.personal(getHash(op, validUntil, validAfter));
        validationData = Signatures.isBy(operator, digest, data[SIGNATURE_AT:]) ? VALIDATION_SUCCESS : VALIDATION_FAILED;
        return ("", validationData | uint256(validUntil) << 160 | uint256(validAfter) << 208);
    }

    /// What the operator signs: everything of the operation but its own signature and the user's.
    function getHash(PackedUserOperation calldata op, uint48 validUntil, uint48 validAfter)
        public
        view
        returns (bytes32)
    {
        return keccak256(
            abi.encode(
                op.sender,
                op.nonce,
                keccak256(op.initCode),
                keccak256(op.callData),
                op.accountGasLimits,
                uint256(bytes32(op.paymasterAndData[GAS_LIMITS_AT:DATA_AT])),
                op.preVerificationGas,
                op.gasFees,
                block.chainid,
                address(this),
                validUntil,
                validAfter
            )
        );
    }

    function postOp(uint8, bytes calldata, uint256, uint256) external view {
        if (msg.sender != entryPoint) revert NotEntryPoint();
    }
}
