// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PackedUserOperation} from "./Types.sol";

// What we call of Kernel, and how it says no. The code itself is ZeroDev's: kernel/creation-calls.json. Each interface
// has the name of its artifact.

interface KernelV31 {
    struct ValidationConfig {
        uint32 nonce;
        address hook; // 1 = none needed, 0 = validator not installed
    }

    error ExecutionReverted();
    error InvalidExecutor();
    error InvalidCaller();
    error InvalidSelector();
    error InvalidModuleType();
    error InitConfigError(uint256 index);
    error OnlyExecuteUserOp();
    error NotSupportedCallType();
    error InvalidMode();
    error InvalidValidator();
    error InvalidSignature();
    error InvalidNonce();
    error InvalidValidationType();
    error EnableNotApproved();
    error NonceInvalidationError();
    error RootValidatorCannotBeRemoved();
    error PermissionNotAlllowedForSignature();

    function initialize(
        bytes21 rootValidator,
        address hook,
        bytes calldata validatorData,
        bytes calldata hookData,
        bytes[] calldata initConfig
    ) external;
    function validateUserOp(PackedUserOperation calldata op, bytes32 opHash, uint256 missingFunds)
        external
        payable
        returns (uint256 validationData);
    function execute(bytes32 mode, bytes calldata executionCalldata) external payable;
    function executeFromExecutor(bytes32 mode, bytes calldata executionCalldata)
        external
        payable
        returns (bytes[] memory);
    function executeUserOp(PackedUserOperation calldata op, bytes32 opHash) external payable;
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);

    function changeRootValidator(
        bytes21 rootValidator,
        address hook,
        bytes calldata validatorData,
        bytes calldata hookData
    ) external payable;
    function installModule(uint256 moduleType, address module, bytes calldata initData) external payable;
    function installValidations(
        bytes21[] calldata ids,
        ValidationConfig[] calldata configs,
        bytes[] calldata validationData,
        bytes[] calldata hookData
    ) external payable;
    function uninstallModule(uint256 moduleType, address module, bytes calldata deinitData) external payable;
    function uninstallValidation(bytes21 id, bytes calldata deinitData, bytes calldata hookDeinitData) external payable;
    function invalidateNonce(uint32 nonce) external payable;
    function upgradeTo(address implementation) external payable;

    function rootValidator() external view returns (bytes21);
    function isModuleInstalled(uint256 moduleType, address module, bytes calldata context) external view returns (bool);
    function supportsExecutionMode(bytes32 mode) external view returns (bool);
    function supportsModule(uint256 moduleType) external view returns (bool);
    function accountId() external view returns (string memory);
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
        );

    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4);
    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external pure returns (bytes4);
    function onERC1155BatchReceived(address, address, uint256[] calldata, uint256[] calldata, bytes calldata)
        external
        pure
        returns (bytes4);
}

interface KernelV33 is KernelV31 {
    error AlreadyInitialized();

    function grantAccess(bytes21 id, bytes4 selector, bool allow) external payable;
}

interface ECDSAValidator {
    error AlreadyInitialized(address account);
    error NotInitialized(address account);
    error InvalidSignature();

    function onInstall(bytes calldata owner) external payable;
    function onUninstall(bytes calldata) external payable;
    function isInitialized(address account) external view returns (bool);
    function isModuleType(uint256 moduleType) external view returns (bool);
    function validateUserOp(PackedUserOperation calldata op, bytes32 opHash) external payable returns (uint256);
    function isValidSignatureWithSender(address sender, bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4);
    function ecdsaValidatorStorage(address account) external view returns (address owner);
}

interface KernelFactory {
    error InitializeError();
    error DeploymentFailed();
    error ETHTransferFailed();

    function createAccount(bytes calldata data, bytes32 salt) external payable returns (address account);
    function getAddress(bytes calldata data, bytes32 salt) external view returns (address account);
    function implementation() external view returns (address);
}

interface MetaFactory {
    error NotApprovedFactory();
    error Unauthorized();

    function deployWithFactory(address factory, bytes calldata createData, bytes32 salt)
        external
        payable
        returns (address account);
    function approveFactory(address factory, bool approval) external payable;
    function approved(address factory) external view returns (bool);
    function owner() external view returns (address);
}
