"""The routes of customers and products, a part of the table in fe/http/routes/table.py."""

from fe.catalogue.fields import ID_PATTERN
from fe.ecf.identity import TAX_ID_FORM
from fe.http.models import catalogue as models
from fe.http.openapi.described_errors import errors
from fe.http.parameters import LIMIT_DEFAULT, LIMIT_MAX
from fe.http.routes.catalogue import CatalogueHandlers
from fe.http.routes.types import About, Parameter, Route, whole

_GROUP = "Customers and products"
_BODY = 8 * 1024
_ID = Parameter(
    "entryId",
    "yours: letters without accents, digits and . _ ~ -",
    {"type": "string", "pattern": ID_PATTERN},
    "path",
)
_VERSION = Parameter(
    "version", "delete only if it is at this version", {"type": "integer", "minimum": 1, "maximum": 999_999_999}
)


def _list(key: Parameter) -> tuple[Parameter, ...]:
    return (
        Parameter("q", "beginnings of words of the name, the RNC or the code", {"type": "string"}),
        key,
        Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
        Parameter("cursor", "`nextCursor` of an earlier answer", {"type": "string"}),
    )


_RNC = Parameter("rnc", "those with this RNC or cédula, and nothing else", {"type": "string"})
_TAXPAYER = Parameter("rnc", "RNC or cédula, digits alone", {"type": "string", "pattern": f"^{TAX_ID_FORM}$"}, "path")
_CODE = Parameter("code", "those with this code, and nothing else", {"type": "string"})


def catalogue_routes(prefix: str, catalogue: CatalogueHandlers) -> tuple[Route, ...]:
    """Make the routes below `{prefix}/customers` and `{prefix}/products`."""
    customers, products = f"{prefix}/customers", f"{prefix}/products"
    return (
        Route(
            "GET",
            customers,
            "catalogue:read",
            catalogue.customers,
            About(
                "listCustomers",
                "List customers",
                _GROUP,
                {200: (models.CUSTOMER_LIST,)},
                parameters=_list(_RNC),
                errors=errors("bad-limit"),
            ),
        ),
        Route(
            "GET",
            f"{customers}/<entry_id>",
            "catalogue:read",
            catalogue.customer,
            About(
                "getCustomer",
                "Show a customer",
                _GROUP,
                {200: (models.CUSTOMER,)},
                parameters=(_ID,),
                errors=errors("no-customer"),
            ),
        ),
        Route(
            "PUT",
            f"{customers}/<entry_id>",
            "catalogue:write",
            catalogue.put_customer,
            About(
                "putCustomer",
                "Create or change a customer",
                _GROUP,
                {200: (models.CUSTOMER,)},
                models.CustomerRequest,
                parameters=(_ID,),
                errors=errors("bad-customer", "entry-changed"),
            ),
            _BODY,
        ),
        Route(
            "DELETE",
            f"{customers}/<entry_id>",
            "catalogue:write",
            catalogue.delete_customer,
            About(
                "deleteCustomer",
                "Delete a customer",
                _GROUP,
                {200: (models.ENTRY_DELETED,)},
                parameters=(_ID, _VERSION),
                errors=errors("no-customer", "entry-changed"),
            ),
        ),
        Route(
            "GET",
            f"{prefix}/rnc/<rnc>",
            "catalogue:read",
            catalogue.taxpayer,
            About(
                "getTaxpayer",
                "Look up a taxpayer in the authority's register",
                _GROUP,
                {200: (models.TAXPAYER,)},
                parameters=(_TAXPAYER,),
                errors=errors("no-taxpayer"),
            ),
        ),
        Route(
            "GET",
            products,
            "catalogue:read",
            catalogue.products,
            About(
                "listProducts",
                "List products",
                _GROUP,
                {200: (models.PRODUCT_LIST,)},
                parameters=_list(_CODE),
                errors=errors("bad-limit"),
            ),
        ),
        Route(
            "GET",
            f"{products}/<entry_id>",
            "catalogue:read",
            catalogue.product,
            About(
                "getProduct",
                "Show a product",
                _GROUP,
                {200: (models.PRODUCT,)},
                parameters=(_ID,),
                errors=errors("no-product"),
            ),
        ),
        Route(
            "PUT",
            f"{products}/<entry_id>",
            "catalogue:write",
            catalogue.put_product,
            About(
                "putProduct",
                "Create or change a product",
                _GROUP,
                {200: (models.PRODUCT,)},
                models.ProductRequest,
                parameters=(_ID,),
                errors=errors("bad-product", "entry-changed"),
            ),
            _BODY,
        ),
        Route(
            "DELETE",
            f"{products}/<entry_id>",
            "catalogue:write",
            catalogue.delete_product,
            About(
                "deleteProduct",
                "Delete a product",
                _GROUP,
                {200: (models.ENTRY_DELETED,)},
                parameters=(_ID, _VERSION),
                errors=errors("no-product", "entry-changed"),
            ),
        ),
    )
