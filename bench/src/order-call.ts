export type OrderCall = ReturnType<typeof orderCall>;

/** A call of an online shop, 630 bytes as JSON. */
export function orderCall(index: number) {
  return {
    userId: `user-${index * 7919}`,
    event: 'Order Completed',
    properties: {
      orderId: `50314b8e9bcf00000000${index}`,
      total: 27.5,
      currency: 'USD',
      products: [
        {
          productId: '507f1f77bcf86cd799439011',
          sku: '45790-32',
          name: 'Monopoly: 3rd Edition',
          price: 19,
          quantity: 1,
        },
      ],
    },
    context: {
      page: {
        path: '/checkout/thanks',
        referrer: 'https://example.com/cart',
        title: 'Thanks',
        url: 'https://example.com/checkout/thanks',
      },
      userAgent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129',
      locale: 'en-US',
      timezone: 'Europe/Amsterdam',
    },
    integrations: { All: true },
  };
}
