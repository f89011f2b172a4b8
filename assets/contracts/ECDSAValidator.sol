// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    ERC1271_INVALID,
    ERC1271_VALID,
    IValidator,
    MODULE_TYPE_VALIDATOR,
    PackedUserOperation,
    VALIDATION_FAILED,
    VALIDATION_SUCCESS
} from "./Types.sol";
import {Signatures} from "./Signatures.sol";

/// One owner key per account. The owner is fixed when the account is made and never changes: no call, however it got into
/// a batch, can give the account to another key. Who wants another owner moves the assets.
contract ECDSAValidator is IValidator {
    error InvalidOwner();
    error AlreadyInstalled();
    error CannotUninstall();

    event OwnerSet(address indexed account, address indexed owner);

    mapping(address account => address) public owner;

    /// @param data the owner, 20 bytes
    function onInstall(bytes calldata data) external {
        if (data.length != 20 || bytes20(data) == bytes20(0)) revert InvalidOwner();
        if (owner[msg.sender] != address(0)) revert AlreadyInstalled();
        address who = address(bytes20(data));
        owner[msg.sender] = who;
        emit OwnerSet(msg.sender, who);
    }

    /// It is the only validator an account has: taking it away would lock the account for ever.
    function onUninstall(bytes calldata) external pure {
        revert CannotUninstall();
    }

    function isModuleType(uint256 moduleType) external pure returns (bool) {
        return moduleType == MODULE_TYPE_VALIDATOR;
    }

    function isInitialized(address account) external view returns (bool) {
        return owner[account] != address(0);
    }

    /// Accepts the owner's signature over the operation hash or over its EIP-191 message.
    function validateUserOp(PackedUserOperation calldata op, bytes32 opHash) external view returns (uint256) {
        return Signatures.isByPlainOrPersonal(owner[msg.sender], opHash, op.signature)
            ? VALIDATION_SUCCESS
            : VALIDATION_FAILED;
    }

    function isValidSignatureWithSender(address, bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return Signatures.isByPlainOrPersonal(owner[msg.sender], hash, signature) ? ERC1271_VALID : ERC1271_INVALID;
    }
}
